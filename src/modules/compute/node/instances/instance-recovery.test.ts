import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crashed } from '../drivers/vmm-exit';
import { AgentsOfAHost } from './agents-of-a-host-suite';
import type { InstanceManager } from './instance.manager';
import { MapDriver } from './map-driver-suite';

/** What the agent before has left: its files, and the machines that go on. */
interface Left {
  driver: MapDriver;
  id: string;
  /** Changes its record as it lies on the disk. */
  rewrite: (changes: object) => void;
}

const never = new AbortController().signal;
const killed = crashed('killed', 'QEMU was ended by SIGKILL', { signal: 'SIGKILL' });
const endNewest = ({ driver }: Left): void => driver.end(driver.newest, killed);

/** By the table of docs/instances.md: on record, found; what is left; what the next agent says, and how many machines there are. */
const table: [string, string, (left: Left) => void, object, number][] = [
  ['running', 'its VMM runs', () => undefined, { state: 'running' }, 1],
  ['running', 'its VMM has ended', endNewest, { state: 'crashed', exit: { reason: 'killed', signal: 'SIGKILL' } }, 0],
  [
    'running or paused',
    "the VMM's word is another",
    ({ driver }) => void driver.still.add(driver.newest),
    { state: 'paused' },
    1,
  ],
  [
    'starting',
    'strays that name its run folder, or none',
    ({ driver, rewrite }) => {
      driver.alive.clear();
      rewrite({ handle: null, starting: true });
    },
    { state: 'stopped' },
    0,
  ],
  ['stopping', 'its VMM runs', ({ rewrite }) => rewrite({ power: 'off' }), { state: 'running' }, 1],
  [
    'rebooting, off and wanted on',
    'no VMM',
    ({ driver, rewrite }) => {
      driver.alive.clear();
      rewrite({ handle: null, exit: { cause: 'operator', detail: '' } });
    },
    { state: 'stopped', reason: 'operator' },
    0,
  ],
  [
    'running, a card or a disk detached halfway',
    'its VMM runs',
    ({ rewrite }) => rewrite({ leaving: [randomUUID()] }),
    { state: 'running' },
    1,
  ],
  [
    'running, its memory dumped halfway',
    'its VMM runs',
    ({ driver, rewrite }) => {
      driver.still.add(driver.newest);
      rewrite({ dumping: true });
    },
    { state: 'running' },
    1,
  ],
  [
    'running, its memory dumped halfway',
    'its VMM has ended',
    (left) => {
      endNewest(left);
      left.rewrite({ dumping: true });
    },
    { state: 'crashed', exit: { reason: 'killed', signal: 'SIGKILL' } },
    0,
  ],
  [
    'running, resized halfway',
    'its VMM runs',
    ({ driver, rewrite }) => {
      driver.has = { vcpus: 3, memoryBytes: 2 ** 29 };
      rewrite({ resizing: true });
    },
    { state: 'running' },
    1,
  ],
  [
    'running, resized halfway',
    'its VMM has ended',
    (left) => {
      endNewest(left);
      left.rewrite({ resizing: true });
    },
    { state: 'crashed', exit: { reason: 'killed', signal: 'SIGKILL' } },
    0,
  ],
  [
    'running, its balloon changed halfway',
    'its VMM runs',
    ({ driver, rewrite }) => {
      driver.inflated = 2 ** 20;
      rewrite({ ballooning: true });
    },
    { state: 'running' },
    1,
  ],
  [
    'of an earlier boot of the host, on',
    'no VMM',
    ({ driver, rewrite }) => {
      driver.alive.clear();
      rewrite({ bootId: 'another boot' });
    },
    { state: 'running', exit: { reason: 'host-restarted' } },
    1,
  ],
  [
    'of an earlier boot of the host, on, in rescue',
    'no VMM',
    ({ driver, rewrite }) => {
      driver.alive.clear();
      const spec = { name: 'i', vcpus: 1, memoryBytes: 2 ** 28, disks: [], ports: [], vmm: null, rescue: true };
      rewrite({ bootId: 'another boot', spec });
    },
    { state: 'crashed', reason: 'its host restarted while it was in rescue' },
    0,
  ],
  [
    'of an earlier boot of the host, off',
    'no VMM',
    ({ driver, rewrite }) => {
      driver.alive.clear();
      rewrite({ bootId: 'another boot', power: 'off', handle: null });
    },
    { state: 'stopped' },
    0,
  ],
  ['cannot be read', 'whatever runs', ({ rewrite }) => rewrite({ power: 'dimmed' }), { state: 'unknown' }, 1],
];

describe('an agent that starts', () => {
  const host = new AgentsOfAHost();
  afterAll(() => host.remove());

  it.each(table)('finds one %s, %s', async (_record, _found, leave, said, machines) => {
    const driver = new MapDriver();
    const id = randomUUID();
    const spec = { name: 'i', vcpus: 1, memoryBytes: 2 ** 28, disks: [], ports: [], vmm: null };
    const ask = (agent: InstanceManager, power: 'on' | 'off', generation: number): Promise<unknown> =>
      agent.ensure({ instanceId: id, generation, spec, power, graceSeconds: 1 }, never);
    const before = host.agent(driver);
    await ask(before, 'on', 1);
    await before.stop();
    const file = join(host.store.directory(id), 'instance.json');
    leave({
      driver,
      id,
      rewrite: (changes) =>
        writeFileSync(file, JSON.stringify({ ...(JSON.parse(readFileSync(file, 'utf8')) as object), ...changes })),
    });

    const agent = host.agent(driver);
    await agent.start();
    await host.afterBoot?.done();
    expect(agent.list().find(({ instanceId }) => instanceId === id)).toMatchObject(said);
    expect(driver.alive.size).toBe(machines);
    // Whatever it was: it can be deleted, and nothing is left.
    await agent.remove(id, 9);
    expect(agent.has(id)).toBe(false);
    await agent.stop();
  });

  it("does what the module's page says, row by row", async () => {
    const page = await readFile(join(__dirname, '../../../../../docs/instances.md'), 'utf8');
    const [, rows = ''] = page.split('| on record | found | done |\n| --- | --- | --- |\n');
    const told = rows.slice(0, rows.indexOf('\n\n')).trimEnd().split('\n');
    expect(told.map((row) => row.split(' | ').slice(0, 2).join(' | '))).toEqual(
      table.map(([record, found]) => `| ${record} | ${found}`),
    );
  });
});
