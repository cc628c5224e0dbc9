import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the ports that the kernel gives to outgoing connections and to listeners on port 0 (`ip_local_port_range`, from
 * 32768): between the question and the use none of them takes the port, of whichever test or process beside this one.
 */
const range = { first: 15_000, last: 32_767 };
const attempts = 50;
/** What a server leaves while it is restarted is still its own. */
const given = new Set<number>();

/** Whether nobody listens on that port of any address. */
const free = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '0.0.0.0' }, () => server.close(() => resolve(true)));
  });

/** A TCP port that nobody listens on, and that this process has not given before. Fails when there seems to be none. */
export const freePort = async (): Promise<number> => {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const port = randomInt(range.first, range.last + 1);
    if (given.has(port) || !(await free(port))) continue;
    given.add(port);
    return port;
  }
  throw new Error('no free port');
};
