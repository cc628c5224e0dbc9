import { spawn } from 'node:child_process';
import { Server } from 'node:net';
import { netnsPath } from '../drivers/linux/netns';

/**
 * Runs in the namespace: opens the socket, hands it over and ends once it is taken. A socket stays in the namespace in
 * which it was made.
 */
const opener = `
const server = require('node:net').createServer({ pauseOnConnect: true });
const fail = (error) => process.send({ error: error.message }, () => process.exit(1));
server.on('error', fail);
process.on('disconnect', () => process.exit(0));
server.listen({ host: process.argv[1], port: Number(process.argv[2]), backlog: 128 }, () => process.send({ open: true }, server));
`;

/**
 * A listening TCP socket inside a named network namespace, served by this process.
 * @param deadlineMs the child is killed and the call fails after it
 */
export const listenInNamespace = (netns: string, host: string, port: number, deadlineMs = 10_000): Promise<Server> =>
  new Promise((resolve, reject) => {
    const { PATH = '/usr/sbin:/usr/bin:/sbin:/bin' } = process.env;
    const child = spawn(
      'nsenter',
      [`--net=${netnsPath(netns)}`, '--', process.execPath, '-e', opener, host, String(port)],
      {
        stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
        env: { PATH },
      },
    );
    let stderr = '';
    let settled = false;
    const settle = (server: Server | undefined, failure = ''): void => {
      if (settled) {
        server?.close();
        return;
      }
      settled = true;
      clearTimeout(timer);
      // The child ends when it is let go of; one that hangs is killed.
      if (child.connected) child.disconnect();
      else child.kill('SIGKILL');
      if (server) resolve(server);
      else reject(new Error(`listening on ${host}:${port} in ${netns}: ${failure}`));
    };
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      settle(undefined, `no socket after ${deadlineMs} ms`);
    }, deadlineMs);
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (stderr = (stderr + chunk).slice(-2000)));
    child.on('error', (error) => settle(undefined, error.message));
    child.on('message', (message, handle) =>
      handle instanceof Server ? settle(handle) : settle(undefined, String((message as { error?: unknown }).error)),
    );
    // Not 'close': that event may not come for a child that passed a handle. What it sent or printed is read first.
    child.on('exit', (code) => setTimeout(() => settle(undefined, stderr.trim() || `exit ${code ?? '?'}`), 100));
  });
