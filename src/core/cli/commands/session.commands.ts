import type { Command } from 'commander';
import { suggest } from '../../config/suggest';
import type { CliColumn } from '../output/cli-column';
import { CliFailure, exitCodes, usageFailure } from '../cli-failure';
import { addListOptions, type ListOptions } from '../input/list-options';
import type { Profile } from '../session/profile-store';
import type { TerminalContext } from '../terminal-context';

interface LoginOptions {
  caFile?: string;
  fingerprint?: string;
  user?: string;
  passwordStdin?: boolean;
  tokenStdin?: boolean;
}

/** `login`, `logout` and `profile`: what concerns the client's own file rather than a noun of the server. */
export const registerSession = (program: Command, context: TerminalContext): void => {
  registerLogin(program, context);
  registerLogout(program, context);
  const profile = program.command('profile').alias('profiles').description('the control planes that this user knows');
  addListOptions(profile.command('list').description('list profiles; the current one is marked')).action(
    async (options: ListOptions) => {
      const rows = async () => {
        const file = await context.store.load();
        return file.profiles.map((p) => shown(p, p.name === file.current));
      };
      await context.printList(rows, columns, options);
    },
  );
  registerUse(profile, context);
  registerRemove(profile, context);
};

const registerLogin = (program: Command, context: TerminalContext): void => {
  program
    .command('login')
    .description('log in to a control plane and keep it as a profile')
    .argument('<url>', 'its address, e.g. https://10.0.0.1:8443')
    .option('--ca-file <file>', "PEM file of the authority that the server's certificate comes from")
    .option('--fingerprint <sha256>', "SHA-256 fingerprint of the server's certificate or of its authority")
    .option('--user <name>', 'whom to log in; asked for when missing')
    .option('--password-stdin', 'read the password from standard input')
    .option('--token-stdin', 'read an API token from standard input and use it instead of a session')
    .addHelpText(
      'after',
      `
Without --ca-file or --fingerprint, a certificate that the system does not know is shown for you to confirm.

Examples:
  vcctl login https://10.0.0.1:8443
  vcctl login https://cloud.example.org --profile office --user anna
  vcctl login https://10.0.0.1:8443 --ca-file ca.pem --user admin --password-stdin < password`,
    )
    .action(async (url: string, options: LoginOptions) => {
      const { login } = await import('../session/login.js');
      const profile = await login(context, url, options);
      context.report({
        text: `Logged in to ${profile.url} as ${profile.user ?? '?'} (profile ${profile.name}, project ${profile.project ?? 'none'}).`,
        object: shown(profile, true),
      });
    });
};

const registerLogout = (program: Command, context: TerminalContext): void => {
  program
    .command('logout')
    .description('end the session and forget its tokens')
    .action(async () => {
      const session = await context.session();
      const name = session.profile.name;
      try {
        if (session.profile.apiToken === undefined) await context.request('post', '/logout');
      } catch (error) {
        if (!(error instanceof CliFailure && error.exitCode === exitCodes.unauthenticated))
          context.info(`The server could not be told: ${(error as Error).message}`);
      }
      const { dropTokens } = await import('../session/api-session.js');
      await context.store.update((file) => {
        const profile = file.profiles.find((p) => p.name === name);
        if (profile) dropTokens(profile);
      });
      const { profile } = session;
      dropTokens(profile);
      context.report({ text: `Logged out of ${profile.url}.`, object: shown(profile, false) });
    });
};

const registerUse = (profile: Command, context: TerminalContext): void => {
  profile
    .command('use')
    .description('make a profile the current one; with --project also set its default project')
    .argument('<name>')
    .addHelpText('after', '\nExamples:\n  vcctl profile use office\n  vcctl profile use office --project web')
    .action(async (name: string, _options: unknown, command: Command) => {
      const { project } = command.optsWithGlobals<{ project?: string }>();
      const used = await context.store.update((file) => {
        const found = file.profiles.find((p) => p.name === name);
        if (!found) throw unknownProfile(name, file.profiles);
        file.current = name;
        if (project !== undefined) found.project = project;
        return found;
      });
      context.report({
        text: `The profile ${name} is the current one (${used.url}, project ${used.project ?? 'none'}).`,
        object: shown(used, true),
      });
    });
};

const registerRemove = (profile: Command, context: TerminalContext): void => {
  profile
    .command('remove')
    .description('forget profiles and their tokens; the server is not told')
    .argument('<name...>')
    .option('-y, --yes', 'do not ask; without a terminal it must be given')
    .action(async (names: string[], options: { yes?: boolean }) => {
      if (!(await context.confirm(`Forget ${names.join(', ')}, tokens and all?`, options.yes))) return;
      await context.each(names, async (name) => {
        await context.store.update((file) => {
          if (!file.profiles.some((p) => p.name === name))
            throw new CliFailure(`There is no profile "${name}".`, { exitCode: exitCodes.notFound, code: 'not_found' });
          file.profiles = file.profiles.filter((p) => p.name !== name);
          if (file.current === name) delete file.current;
        });
        return { text: `profile ${name} removed`, object: { noun: 'profile', name, result: 'removed' } };
      });
    });
};

interface ShownProfile {
  name: string;
  current: boolean;
  url: string;
  user: string | null;
  project: string | null;
  loggedIn: boolean;
}

/** A profile without its secrets. */
const shown = (p: Profile, current: boolean): ShownProfile => ({
  name: p.name,
  current,
  url: p.url,
  user: p.user ?? null,
  project: p.project ?? null,
  loggedIn: isLoggedIn(p),
});

const columns: CliColumn<ShownProfile>[] = [
  { header: 'name', value: (p) => (p.current ? `${p.name} *` : p.name), raw: (p) => p.name },
  { header: 'url', value: (p) => p.url },
  { header: 'user', value: (p) => p.user ?? '' },
  { header: 'project', value: (p) => p.project ?? '' },
  { header: 'logged in', value: (p) => (p.loggedIn ? 'yes' : 'no') },
];

const unknownProfile = (name: string, profiles: Profile[]): CliFailure => {
  const meant = suggest(
    name,
    profiles.map((p) => p.name),
  );
  return usageFailure(
    `there is no profile "${name}"${meant ? `; did you mean ${meant}?` : ''} See: vcctl profile list`,
  );
};

const isLoggedIn = (profile: Profile): boolean => profile.apiToken !== undefined || profile.refreshToken !== undefined;
