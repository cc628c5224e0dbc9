import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';

export interface TestRedis {
  /** Path of the Unix socket, as `redis.url` takes it. */
  url: string;
  stop(): Promise<void>;
}

/** A real Redis on a Unix socket in a folder of its own; nothing of it stays. */
export const startTestRedis = async (): Promise<TestRedis> => {
  const dir = mkdtempSync(join(tmpdir(), 'vc-redis-'));
  const socket = join(dir, 's');
  const child = spawn(
    'redis-server',
    ['--port', '0', '--unixsocket', socket, '--save', '', '--appendonly', 'no', '--dir', dir],
    { stdio: 'ignore' },
  );
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const probe = new Redis(socket, { retryStrategy: (times) => (times < 200 ? 50 : null), maxRetriesPerRequest: null });
  probe.on('error', () => undefined);
  await probe.ping();
  probe.disconnect();
  return {
    url: socket,
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
      rmSync(dir, { recursive: true, force: true });
    },
  };
};
