import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import pino from 'pino';
import { ownerRole } from '../../src/core/db/embedded/embedded-owner';
import { EmbeddedPostgres } from '../../src/core/db/embedded/embedded-postgres';
import { cpuSecondsOf, statOf } from './processor-time';

/**
 * The embedded PostgreSQL with its own settings (fsync on), in a throwaway folder. Started by the first figure that
 * needs it.
 */
export class BenchPostgres {
  private started: { url: string; server: EmbeddedPostgres; directory: string } | undefined;

  /** A new database on the server; its URL. */
  async database(name: string): Promise<string> {
    this.started ??= await this.start();
    const { url } = this.started;
    // The owner may not make databases.
    const client = await this.superuser();
    try {
      await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)} OWNER ${ownerRole}`);
    } finally {
      await client.end();
    }
    return url.replace('/vcstack?', `/${name}?`);
  }

  /** A connection of the cluster's first role, which may do everything. To be ended by the caller. */
  async superuser(): Promise<Client> {
    if (!this.started) throw new Error('there is no server');
    const { url, directory } = this.started;
    const { host, port } = new Client({ connectionString: url });
    const password = readFileSync(join(directory, 'state', 'password'), 'utf8').trim();
    const client = new Client({ host, port, user: 'vcstack', database: 'postgres', password });
    await client.connect();
    return client;
  }

  /** Processor time of the server and all its connections so far, in seconds. */
  get cpuSeconds(): number {
    if (!this.started) return 0;
    const server = Number(
      readFileSync(join(this.started.directory, 'state', 'data', 'postmaster.pid'), 'utf8').split('\n')[0],
    );
    return [server, ...childrenOf(server)].reduce((sum, pid) => sum + cpuSecondsOf(pid, pid === server), 0);
  }

  async stop(): Promise<void> {
    const started = this.started;
    this.started = undefined;
    if (!started) return;
    await started.server.stop();
    rmSync(started.directory, { recursive: true, force: true });
  }

  private async start(): Promise<{ url: string; server: EmbeddedPostgres; directory: string }> {
    const directory = mkdtempSync('/tmp/vcb-pg-');
    chmodSync(directory, 0o755);
    const server = new EmbeddedPostgres(
      { directory: join(directory, 'state'), runDirectory: join(directory, 'run'), user: 'vc-stack-pg' },
      pino({ level: 'silent' }),
    );
    return { url: await server.start(), server, directory };
  }
}

const childrenOf = (parent: number): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => statOf(pid)[1] === String(parent));
