import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { io, type Socket } from 'socket.io-client';
import WebSocket from 'ws';
import type { LiveEventRecord } from '../../src/core/events/live-event-record';
import { CollectedMemory } from '../../test/support/collected-memory';
import type { Child } from '../harness/child';
import { ControlPlane } from '../harness/control-plane';
import type { Figure } from '../harness/figure';
import type { Lab } from '../harness/lab';
import { inLanes, percentile } from '../harness/statistics';

const instances = 500;
const atOnce = 8;
/** Powered off one after the other, for their events. */
const ended = 200;
/** Until what the creates left is acknowledged and written. */
const settleSeconds = 70;
const windowSeconds = 30;
const eventMs = 10_000;
const mebibyte = 2 ** 20;

/** More than the machine has, whatever its agent reports: nothing of it is used. */
const enlarge = async (databaseUrl: string): Promise<void> => {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(
    `CREATE FUNCTION enlarged() RETURNS trigger LANGUAGE plpgsql
       AS 'BEGIN NEW.threads := 1024; NEW.memory_bytes := ${2 ** 40}; RETURN NEW; END'`,
  );
  await client.query('CREATE TRIGGER enlarged BEFORE UPDATE ON host FOR EACH ROW EXECUTE FUNCTION enlarged()');
  await client.query('UPDATE host SET threads = 1024');
  await client.end();
};

/** Share of a core that the process takes while nothing is asked of it. Percent. */
const idleShare = async (child: Child): Promise<number> => {
  const from = { used: child.cpuSeconds, at: performance.now() };
  await delay(windowSeconds * 1000);
  return (100_000 * (child.cpuSeconds - from.used)) / (performance.now() - from.at);
};

const follow = async (plane: ControlPlane, lab: Lab): Promise<Socket> => {
  const socket = io(plane.api.url, {
    path: '/api/v1/live',
    auth: { token: plane.api.token },
    transports: ['websocket'],
    rejectUnauthorized: false,
    reconnection: false,
  } as Parameters<typeof io>[1]);
  lab.defer(() => void socket.disconnect());
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', () => resolve());
    socket.once('connect_error', reject);
  });
  return socket;
};

const openConsole = async (plane: ControlPlane, id: string): Promise<WebSocket> => {
  const { path } = await plane.api.ok('POST', `/instances/${id}/actions/console?project=default`);
  const socket = new WebSocket(`${plane.api.url.replace('https', 'wss')}${path}`, { rejectUnauthorized: false });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', () => resolve());
    socket.once('error', reject);
  });
  return socket;
};

/** Milliseconds from a key on the console until its guest's echo is back. */
const echo = async (socket: WebSocket): Promise<number> => {
  const heard = new Promise<void>((resolve) => {
    const listen = (data: Buffer): void => {
      if (!data.toString().includes('x')) return;
      socket.off('message', listen);
      resolve();
    };
    socket.on('message', listen);
  });
  const from = performance.now();
  socket.send(Buffer.from('x'), { binary: true });
  await heard;
  return performance.now() - from;
};

/** Milliseconds from the key at which the guest powers off until a client is told that its machine ended. */
const endOf = async (socket: WebSocket, live: Socket, id: string): Promise<number> => {
  let tell = (_event: LiveEventRecord): void => undefined;
  let timer: NodeJS.Timeout | undefined;
  const told = new Promise<void>((resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no event of the end of ${id}`)), eventMs);
    tell = ({ type, subject }) => void (type === 'instance.ended' && subject.id === id && resolve());
  });
  live.on('event', tell);
  const from = performance.now();
  socket.send(Buffer.from('p'), { binary: true });
  try {
    await told;
    return performance.now() - from;
  } finally {
    clearTimeout(timer);
    live.off('event', tell);
    socket.close();
  }
};

/** What one agent with many instances costs while nothing happens, and how fast it is told when something does. */
export const crowdedAgent: Figure = {
  name: 'crowded agent',
  limitMinutes: 12,
  async run(lab: Lab) {
    const plane = await ControlPlane.start(lab, 'crowded', { VC_STACK_MODULES__HOST__CPU_OVERCOMMIT: '64' });
    await plane.furnish();
    const memory = new CollectedMemory(join(lab.directory, 'memory'));
    const agent = await plane.addHosts(1, memory.environment);
    await enlarge(plane.databaseUrl);
    // What the first create brings in stays: it is the agent's, not an instance's.
    await plane.remove(await plane.create('first'));
    await delay(settleSeconds * 1000);
    const empty = { share: await idleShare(agent), ...(await memory.of(agent.pid)) };
    lab.say(`${instances} instances, ${atOnce} at a time`);
    const ids: string[] = [];
    await inLanes(instances, atOnce, async (index) => void ids.push(await plane.create(`crowd-${index}`)));
    lab.say(`at rest for ${settleSeconds} s`);
    await delay(settleSeconds * 1000);
    const full = { share: await idleShare(agent), ...(await memory.of(agent.pid)) };
    const perInstance = (bytes: (of: typeof full) => number): number =>
      (bytes(full) - bytes(empty)) / instances / mebibyte;
    const live = await follow(plane, lab);
    const echoes: number[] = [];
    const ends: number[] = [];
    for (const id of ids.slice(0, ended)) {
      const socket = await openConsole(plane, id);
      echoes.push(await echo(socket));
      ends.push(await endOf(socket, live, id));
    }
    lab.say(`events: p50 ${percentile(ends, 0.5).toFixed(1)} ms`);
    return [
      {
        figure: `agent with ${instances} instances, at rest`,
        ours: full.share,
        reference: empty.share,
        unit: '% of a core',
        note: 'aim: at most 5 %; heartbeats and watches of simulated instances on which nothing happens; reference: the same agent without instances',
      },
      {
        figure: 'memory of the agent for each running instance',
        ours: perInstance((of) => of.residentBytes),
        reference: perInstance((of) => of.heapBytes),
        unit: 'MB',
        note: 'aim: at most 0.5 MB; resident, collected, the simulated VMM in the same process with it; reference: of it what JavaScript holds',
      },
      {
        figure: 'end of a guest until a socket.io client is told, p99',
        ours: percentile(ends, 0.99),
        reference: percentile(echoes, 0.99),
        unit: 'ms',
        note: `aim: at most 100 ms; ${ended} guests power off at a key on their console, of ${instances} on one agent; reference: the echo of a key, which goes half of that way there and back`,
      },
    ];
  },
};
