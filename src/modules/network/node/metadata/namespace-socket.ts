import { spawn } from 'node:child_process';
import { Server } from 'node:net';
import { netnsPath } from '../drivers/linux/netns';

/** Runs in the namespace: opens the socket, hands it over and ends once it is taken. A socket stays in the namespace in which it was made. */
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
    const child = spawn('nsenter', [`--net=${netnsPath(netns)}`, '--', process.execPath, '-e', opener, host, String(port)], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      env: { PATH },
    });
    let stderr = '';
    let server: Server | undefined;
    let failure: string | undefined;
    const timer = setTimeout(() => {
      failure = `no socket after ${deadlineMs} ms`;
      child.kill('SIGKILL');
    }, deadlineMs);
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (stderr = (stderr + chunk).slice(-2000)));
    child.on('error', (error) => (failure = error.message));
    child.on('message', (message, handle) => {
      if (handle instanceof Server) server = handle;
      else failure = String((message as { error?: unknown }).error);
      if (child.connected) child.disconnect();
    });
    child.on('close', (code) => {
      clearTimeout(timer);
      if (server && failure === undefined) return resolve(server);
      server?.close();
      reject(new Error(`listening on ${host}:${port} in ${netns}: ${failure ?? (stderr.trim() || `exit ${code ?? '?'}`)}`));
    });
  });
