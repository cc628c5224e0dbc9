import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { CliFailure, exitCodes, usageFailure } from '../cli-failure';
import { withFileLock } from './file-lock';

/** One control plane and who the user is there. */
export interface Profile {
  name: string;
  /** Without a path: `https://host:8443`. */
  url: string;
  /**
   * PEM of the only certificate that is trusted: the authority's, or with `pinned` the server's own. Absent: the
   * system's authorities.
   */
  ca?: string;
  pinned?: boolean;
  /** Default of `--project`. */
  project?: string;
  user?: string;
  accessToken?: string;
  /** RFC 3339. */
  accessExpiresAt?: string;
  refreshToken?: string;
  /** Instead of a session. */
  apiToken?: string;
}

export interface ProfileFile {
  current?: string;
  profiles: Profile[];
}

/** `VCCTL_CONFIG`, else `~/.config/vc-stack/config.yaml` (or below `XDG_CONFIG_HOME`). */
export const configPath = (env: NodeJS.ProcessEnv): string =>
  env['VCCTL_CONFIG'] || join(env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'vc-stack', 'config.yaml');

/** The profiles on disk: mode 0600, since it holds tokens; replaced whole, never half-written. */
export class ProfileStore {
  constructor(readonly path: string) {}

  async load(): Promise<ProfileFile> {
    let text: string;
    try {
      text = await readFile(this.path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { profiles: [] };
      throw error;
    }
    const { parse } = await import('yaml');
    let value: unknown;
    try {
      value = parse(text);
    } catch (error) {
      throw new CliFailure(`${this.path} is not valid YAML: ${(error as Error).message.split('\n')[0] ?? ''}`, {
        exitCode: exitCodes.failed,
        code: 'bad_config',
      });
    }
    return checked(value, this.path);
  }

  /** Changes the file under its lock; `change` sees what other processes wrote before. Returns what it returned. */
  async update<T>(change: (file: ProfileFile) => Promise<T> | T): Promise<T> {
    await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
    return withFileLock(this.path, async () => {
      const file = await this.load();
      const result = await change(file);
      await this.save(file);
      return result;
    });
  }

  private async save(file: ProfileFile): Promise<void> {
    const { stringify } = await import('yaml');
    const temporary = `${this.path}.${process.pid}.${randomBytes(4).toString('hex')}`;
    try {
      const handle = await open(temporary, 'wx', 0o600);
      try {
        await handle.writeFile(stringify(file));
        await handle.sync();
      } finally {
        await handle.close();
      }
      await chmod(temporary, 0o600);
      await rename(temporary, this.path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw Object.assign(error as Error, { path: this.path });
    }
  }
}

/** The profile of that name, or the current one. */
export const pickProfile = (file: ProfileFile, name: string | undefined): Profile => {
  const wanted = name ?? file.current;
  const found = wanted === undefined ? undefined : file.profiles.find((p) => p.name === wanted);
  if (found) return found;
  if (name !== undefined) throw usageFailure(`there is no profile "${name}"; see: vcctl profile list`);
  throw new CliFailure('You are not logged in.', {
    exitCode: exitCodes.unauthenticated,
    code: 'not_logged_in',
    hint: 'Log in: vcctl login <url>',
  });
};

const strings = [
  'name',
  'url',
  'ca',
  'project',
  'user',
  'accessToken',
  'accessExpiresAt',
  'refreshToken',
  'apiToken',
] as const;

const checked = (value: unknown, path: string): ProfileFile => {
  const bad = (what: string): CliFailure =>
    new CliFailure(`${path}: ${what}`, { exitCode: exitCodes.failed, code: 'bad_config' });
  if (value === null || value === undefined) return { profiles: [] };
  if (typeof value !== 'object' || Array.isArray(value)) throw bad('not a map');
  const { current, profiles } = value as Record<string, unknown>;
  if (current !== undefined && typeof current !== 'string') throw bad('current: not a name');
  if (profiles !== undefined && !Array.isArray(profiles)) throw bad('profiles: not a list');
  const list = ((profiles ?? []) as unknown[]).map((entry, index) => {
    if (typeof entry !== 'object' || entry === null) throw bad(`profiles.${index}: not a map`);
    const profile = entry as Record<string, unknown>;
    for (const key of strings)
      if (profile[key] !== undefined && typeof profile[key] !== 'string')
        throw bad(`profiles.${index}.${key}: not a text`);
    if (!profile['name'] || !profile['url']) throw bad(`profiles.${index}: name or url is missing`);
    return profile as unknown as Profile;
  });
  return { ...(current !== undefined && { current }), profiles: list };
};
