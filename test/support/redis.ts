import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';

export interface TestRedis {
  /** Path of the Unix socket, as `redis.url` takes it. */
  url: string;
  /** Ends it as a crash does. What it knew is lost. */
  kill(): Promise<void>;
  /** Starts it again after `kill`, empty, at the same place. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** A real Redis on a Unix socket in a folder of its own; nothing of it stays. */
export const startTestRedis = async (): Promise<TestRedis> => {
  const dir = mkdtempSync(join(tmpdir(), 'vc-redis-'));
  const socket = join(dir, 's');
  const start = async (): Promise<() => Promise<void>> => {
    const child = spawn(
      'redis-server',
      ['--port', '0', '--unixsocket', socket, '--save', '', '--appendonly', 'no', '--dir', dir],
      { stdio: 'ignore' },
    );
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
    const probe = new Redis(socket, {
      retryStrategy: (times) => (times < 200 ? 50 : null),
      maxRetriesPerRequest: null,
    });
    probe.on('error', () => undefined);
    await probe.ping();
    probe.disconnect();
    return () => {
      child.kill('SIGKILL');
      return ended;
    };
  };
  let kill = await start();
  return {
    url: socket,
    kill: () => kill(),
    restart: async () => {
      kill = await start();
    },
    stop: async () => {
      await kill();
      rmSync(dir, { recursive: true, force: true });
    },
  };
};
