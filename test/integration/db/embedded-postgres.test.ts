import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import pino from 'pino';
import { EmbeddedPostgres } from '../../../src/core/db/embedded-postgres';

describe('embedded PostgreSQL', () => {
  const directory = mkdtempSync('/tmp/vcs-pg-');
  // The server's user must be able to reach its folder.
  chmodSync(directory, 0o755);
  const options = { directory: join(directory, 'state'), runDirectory: join(directory, 'run'), user: 'vc-stack-pg' };
  const server = new EmbeddedPostgres(options, pino({ level: 'silent' }));

  afterAll(async () => {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('runs as an unprivileged user, is found again, and keeps its data over a restart', async () => {
    const url = await server.start();
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query('CREATE TABLE kept (n int); INSERT INTO kept VALUES (42)');
    await client.end();
    const pid = Number(readFileSync(join(options.directory, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);
    const uid = Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
    expect(uid).not.toBe(0);

    expect(await new EmbeddedPostgres(options, pino({ level: 'silent' })).start()).toBe(url);
    expect(Number(readFileSync(join(options.directory, 'data', 'postmaster.pid'), 'utf8').split('\n')[0])).toBe(pid);

    await server.stop();
    await server.start();
    const again = new Client({ connectionString: url });
    await again.connect();
    expect((await again.query('SELECT n FROM kept')).rows).toEqual([{ n: 42 }]);
    await again.end();
  }, 120_000);
});
