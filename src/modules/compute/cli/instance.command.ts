import { Option, type Command } from 'commander';
import { choice } from '../../../core/cli/input/choice';
import type { CliContext, CliRegistrar, Outcome } from '../../../core/cli/cli-context';
import { addDelete } from '../../../core/cli/commands/delete-command';
import { addEdit, addRename } from '../../../core/cli/commands/edit-command';
import { addListOptions, type ListOptions } from '../../../core/cli/input/list-options';
import { projectNames } from '../../../core/cli/input/names-by-id';
import { nounCommand, type Noun } from '../../../core/cli/noun';
import { parseInteger } from '../../../core/cli/input/parse-size';
import { parseYesNo } from '../../../core/cli/input/parse-yes-no';
import type { Instance } from '../contract/compute.api';
import { registerInstanceCreate } from './instance-create';
import { registerInstanceCoreDumps } from './instance-core-dumps';
import { registerInstancePorts } from './instance-ports';
import { registerInstanceMemory } from './instance-memory';
import { registerInstanceRescue } from './instance-rescue';
import { registerInstanceVolumes } from './instance-volumes';
import { given, parseMetadata } from './labels';
import { guestDataView, instanceColumns, instanceStateNames, instanceView } from './instance-view';

const instanceNoun: Noun = { name: 'instance', plural: 'instances', path: '/instances', inProject: true };

interface FindOptions extends ListOptions {
  tag?: string;
  state?: Instance['state'];
  host?: string;
  allProjects?: boolean;
  limit: string;
}

interface SshOptions {
  user?: string;
  identity?: string;
}

/** Verbs without a choice: what was done, and what they are. */
const plainVerbs = [
  ['pause', 'paused', 'pause instances: their vCPUs stand still, their memory stays'],
  ['suspend', 'suspended', 'suspend instances: their memory goes to the disk of their host'],
  ['resume', 'resumed', 'resume paused or suspended instances'],
  ['nmi', 'interrupted', 'send a non-maskable interrupt: a guest that hangs may write down where'],
] as const;

/** That a list shows unless it is told otherwise. */
const mostInstances = 10_000;

export class InstanceCommands implements CliRegistrar {
  register(program: Command, context: CliContext): void {
    const instance = nounCommand(program, context, instanceNoun, 'virtual machines');
    this.registerReads(instance, context);
    registerInstanceCreate(instance, context);
    this.registerVerbs(instance, context);
    registerInstancePorts(instance, context);
    registerInstanceVolumes(instance, context);
    registerInstanceCoreDumps(instance, context);
    addRename(instance, context, instanceNoun, 'the guest keeps its hostname');
    addEdit(
      instance,
      context,
      instanceNoun,
      [
        { member: 'description', flags: '--description <text>', description: 'what it is for' },
        {
          member: 'stopGraceSeconds',
          flags: '--stop-grace <seconds>',
          description: 'how long a stop waits for the guest',
          parse: (text) => parseInteger(text, '--stop-grace', 0, 600),
        },
        {
          member: 'restartPolicy',
          flags: '--restart-policy <policy>',
          description: 'never, or on-failure: its host starts it again; from the next start on',
        },
        {
          member: 'tags',
          flags: '--tag <tag>',
          description: 'a word to find it by; may be repeated; replaces all, "" for none',
          list: given,
        },
        {
          member: 'metadata',
          flags: '--meta <key=value>',
          description: 'read by its guest; may be repeated; replaces all, "" for none',
          list: parseMetadata,
        },
        {
          member: 'protected',
          flags: '--protected <yes|no>',
          description: 'whether deleting it is refused',
          parse: parseYesNo,
        },
      ],
      { task: true },
    );
    addDelete(instance, context, instanceNoun, {
      description: 'delete instances with their root volumes; other volumes stay',
      question: 'Delete % and all data on their root volumes?',
      task: true,
      examples: '\nExamples:\n  vcctl instance delete web --yes --wait',
    });
    this.registerResize(instance, context);
    this.registerRebuild(instance, context);
    registerInstanceRescue(instance, context);
    registerInstanceMemory(instance, context);
    this.registerLock(instance, context);
    this.registerWays(instance, context);
  }

  private registerReads(instance: Command, context: CliContext): void {
    addListOptions(instance.command('list').description('list instances'))
      .addOption(choice(new Option('--state <state>', 'only those in this state'), instanceStateNames))
      .option('--host <host>', 'only those on this host')
      .option('--tag <tag>', 'only those with this tag')
      .option('--all-projects', 'of all projects that you can see')
      .option('--limit <count>', 'at most so many', String(mostInstances))
      .addHelpText(
        'after',
        '\nExamples:\n  vcctl instance list\n  vcctl instance list --state running -o wide\n  vcctl instance list --filter address=10.10.* --sort -created --columns name,address,host\n  vcctl instance list --watch\n  vcctl instance list -o name',
      )
      .action(async (options: FindOptions) => {
        const host = options.host === undefined ? undefined : await context.resolve('host', options.host);
        const { state, tag } = options;
        const query = { project: options.allProjects ? undefined : context.project(), state, tag, host };
        const limit = parseInteger(options.limit, '--limit', 1);
        await context.printList(
          (search) => context.list('/instances', { query: { ...query, ...search }, limit }),
          instanceColumns,
          options,
        );
      });
    instance
      .command('show')
      .description('show an instance')
      .argument('<instance>', 'name or id')
      .action(async (ref: string) => {
        const [found, projects] = await Promise.all([context.get<Instance>('instance', ref), projectNames(context)]);
        context.show(found, instanceView(projects.get(found.projectId)));
      });
    instance
      .command('guest-data')
      .description('show what its guest reads: metadata, network data, user data')
      .argument('<instance>', 'name or id')
      .addHelpText('after', '\nExamples:\n  vcctl instance guest-data web\n  vcctl instance guest-data web -o json')
      .action(async (ref: string) => {
        const id = await context.resolve('instance', ref);
        context.show(
          await context.request('get', '/instances/{ref}/guest-data', {
            path: { ref: id },
            query: { project: context.project() },
          }),
          guestDataView,
        );
      });
  }

  private registerResize(instance: Command, context: CliContext): void {
    instance
      .command('resize')
      .description(
        'give an instance another flavor on its host: a stopped one, or one that runs within its maximum, at once',
      )
      .argument('<instance>', 'name or id')
      .requiredOption('--flavor <flavor>', 'its new size; a disk never shrinks')
      .option('-w, --wait', 'return when it is done')
      .addHelpText(
        'after',
        '\nNothing is ever stopped for it: what cannot be done while it runs is refused, with the reason.\n\nExamples:\n  vcctl instance resize app --flavor large --wait\n  vcctl instance stop db --wait && vcctl instance resize db --flavor large --wait',
      )
      .action(async (ref: string, options: { flavor: string; wait?: boolean }) => {
        const asked = await context.request('post', '/instances/{ref}/actions/resize', {
          path: { ref: await context.resolve('instance', ref) },
          query: { project: context.project() },
          body: { flavor: await context.resolve('flavor', options.flavor) },
        });
        if (options.wait) await context.follow(asked.taskId);
        context.report({
          text: options.wait ? `instance ${ref} resized` : `instance ${ref}: resize accepted (task ${asked.taskId})`,
          object: asked,
        });
      });
  }

  private registerRebuild(instance: Command, context: CliContext): void {
    instance
      .command('rebuild')
      .description('give a stopped instance a new root disk of an image; it keeps its name, addresses, keys and size')
      .argument('<instance>', 'name or id')
      .option('--image <image>', 'what the new disk holds; its own image when missing')
      .option('-y, --yes', 'do not ask; without a terminal it must be given')
      .option('-w, --wait', 'return when it is done')
      .addHelpText('after', '\nExamples:\n  vcctl instance rebuild web --image debian-13 --yes --wait')
      .action(async (ref: string, options: { image?: string; yes?: boolean; wait?: boolean }) => {
        const question = `Rebuild ${ref}? All data on its root volume is lost.`;
        if (!(await context.confirm(question, options.yes))) return;
        const asked = await context.request('post', '/instances/{ref}/actions/rebuild', {
          path: { ref: await context.resolve('instance', ref) },
          query: { project: context.project() },
          body: options.image === undefined ? {} : { image: await context.resolve('image', options.image) },
        });
        if (options.wait) await context.follow(asked.taskId);
        context.report({
          text: options.wait
            ? `instance ${ref} rebuilt: start it`
            : `instance ${ref}: rebuild accepted (task ${asked.taskId})`,
          object: asked,
        });
      });
  }

  private registerLock(instance: Command, context: CliContext): void {
    const each = (refs: string[], verb: 'lock' | 'unlock', body?: { reason: string }): Promise<void> =>
      context.each(refs, async (ref): Promise<Outcome> => {
        const object = await context.request('post', `/instances/{ref}/actions/${verb}`, {
          path: { ref: await context.resolve('instance', ref) },
          query: { project: context.project() },
          ...(body && { body }),
        });
        return { text: `instance ${ref} ${verb}ed`, object };
      });
    instance
      .command('lock')
      .description('lock instances: all but reads, the console and unlocking is refused')
      .argument('<instance...>', 'names or ids')
      .option('--reason <text>', 'why; shown to who is refused', '')
      .addHelpText('after', '\nExamples:\n  vcctl instance lock db --reason "until the migration is over"')
      .action((refs: string[], { reason }: { reason: string }) => each(refs, 'lock', { reason }));
    instance
      .command('unlock')
      .description('unlock instances')
      .argument('<instance...>', 'names or ids')
      .addHelpText('after', '\nExamples:\n  vcctl instance unlock db')
      .action((refs: string[]) => each(refs, 'unlock'));
  }

  private registerVerbs(instance: Command, context: CliContext): void {
    const act = async (
      refs: string[],
      verb: 'start' | 'stop' | 'reboot' | 'pause' | 'suspend' | 'resume' | 'nmi',
      past: string,
      body: object | undefined,
      wait: boolean | undefined,
    ): Promise<void> =>
      context.each(refs, async (ref): Promise<Outcome> => {
        const asked = await context.request('post', `/instances/{ref}/actions/${verb}`, {
          path: { ref: await context.resolve('instance', ref) },
          query: { project: context.project() },
          ...(body && { body }),
        });
        if (!wait) return { text: `instance ${ref}: ${verb} accepted (task ${asked.taskId})`, object: asked };
        await context.follow(asked.taskId);
        return {
          text: `instance ${ref} ${past}`,
          object: {
            ...asked,
            instance: await context.request('get', '/instances/{ref}', { path: { ref: asked.instance.id } }),
          },
        };
      });
    instance
      .command('start')
      .description('start instances')
      .argument('<instance...>', 'names or ids')
      .option('-w, --wait', 'return when they run')
      .action((refs: string[], options: { wait?: boolean }) => act(refs, 'start', 'started', undefined, options.wait));
    instance
      .command('stop')
      .description('stop instances: power button, then by force after the grace period')
      .argument('<instance...>', 'names or ids')
      .option('--force', 'at once, without asking the guest')
      .option('--grace <seconds>', 'how long to wait for the guest')
      .option('-w, --wait', 'return when they are stopped')
      .addHelpText('after', '\nExamples:\n  vcctl instance stop web db --wait\n  vcctl instance stop web --force')
      .action((refs: string[], options: { force?: boolean; grace?: string; wait?: boolean }) => {
        const graceSeconds = options.grace === undefined ? undefined : parseInteger(options.grace, '--grace', 0, 600);
        return act(
          refs,
          'stop',
          'stopped',
          { force: options.force ?? false, ...(graceSeconds !== undefined && { graceSeconds }) },
          options.wait,
        );
      });
    instance
      .command('reboot')
      .description('reboot instances')
      .argument('<instance...>', 'names or ids')
      .option('--force', 'reset, without asking the guest')
      .option('-w, --wait', 'return when they run again')
      .action((refs: string[], options: { force?: boolean; wait?: boolean }) =>
        act(refs, 'reboot', 'rebooted', { force: options.force ?? false }, options.wait),
      );
    for (const [verb, past, description] of plainVerbs)
      instance
        .command(verb)
        .description(description)
        .argument('<instance...>', 'names or ids')
        .option('-w, --wait', 'return when it is done')
        .addHelpText('after', `\nExamples:\n  vcctl instance ${verb} web --wait`)
        .action((refs: string[], options: { wait?: boolean }) => act(refs, verb, past, undefined, options.wait));
  }

  /** Ways into the guest, and to what it said. */
  private registerWays(instance: Command, context: CliContext): void {
    instance
      .command('console')
      .description('the serial console; without a terminal it pipes standard input and output')
      .argument('<instance>', 'name or id')
      .addHelpText(
        'after',
        '\nCtrl+] leaves the console; the instance runs on.\n\nExamples:\n  vcctl instance console web',
      )
      .action(async (ref: string) => {
        const { openConsole } = await import('./console.js');
        await openConsole(context, await context.resolve('instance', ref));
      });
    instance
      .command('vsock')
      .description('join standard input and output to a port of its guest, without a network')
      .argument('<instance>', 'name or id')
      .argument('<port-number>', 'at which something in the guest listens; ssh of systemd 256 and later does at 22')
      .addHelpText(
        'after',
        '\nIt ends when the guest ends it.\n\nExamples:\n  ssh -o ProxyCommand="vcctl instance vsock web 22" root@web',
      )
      .action(async (ref: string, port: string) => {
        const { openVsock } = await import('./vsock.js');
        const number = parseInteger(port, 'port', 1, 0xfffffffe);
        await openVsock(context, await context.resolve('instance', ref), number);
      });
    instance
      .command('screenshot')
      .description('a picture (PNG) of what its screen shows, where its VMM gives it one')
      .argument('<instance>', 'name or id')
      .option('--file <file>', 'where to write it; standard output when missing')
      .addHelpText(
        'after',
        '\nExamples:\n  vcctl instance screenshot web --file web.png\n  vcctl instance screenshot web | display',
      )
      .action(async (ref: string, { file }: { file?: string }) => {
        const { takeScreenshot } = await import('./screenshot.js');
        await takeScreenshot(context, ref, file);
      });
    instance
      .command('logs')
      .description('what the guest wrote on its serial console, as its host has kept it')
      .argument('<instance>', 'name or id')
      .option('-f, --follow', 'go on with what it writes, until interrupted')
      .option('--tail <lines>', 'only so many of the last lines')
      .addHelpText('after', '\nExamples:\n  vcctl instance logs web --tail 50\n  vcctl instance logs web --follow')
      .action(async (ref: string, options: { follow?: boolean; tail?: string }) => {
        const { showLogs } = await import('./logs.js');
        const lines = options.tail === undefined ? undefined : parseInteger(options.tail, '--tail', 1);
        await showLogs(context, await context.resolve('instance', ref), {
          follow: options.follow === true,
          ...(lines !== undefined && { lines }),
        });
      });
    instance
      .command('ssh')
      .description('log in to a guest by ssh, where there is a way to it from here')
      .argument('<instance>', 'name or id')
      .argument('[command...]', 'run there instead of a shell')
      .option('--user <name>', "whom to log in; ssh's own choice when missing")
      .option('-i, --identity <file>', 'private key to use')
      .addHelpText(
        'after',
        `
The way: on the instance's host, as root, through the network's own namespace; elsewhere straight to its address, where that can be reached.
Guests' keys are kept by instance, since networks may have the same addresses.

Examples:
  vcctl instance ssh web --user debian
  vcctl instance ssh web --user debian -- uptime -p`,
      )
      .action(async (ref: string, command: string[], options: SshOptions) => {
        const { openSsh } = await import('./ssh.js');
        await openSsh(context, await context.get<Instance>('instance', ref), command, options);
      });
  }
}
