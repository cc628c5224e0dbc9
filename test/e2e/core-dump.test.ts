import { execFileSync, spawnSync } from 'node:child_process';
import {
  createReadStream,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { ApiClient } from '../support/api-client';
import { TestCloud } from '../support/cloud';
import { eventually } from '../support/eventually';
import { waitFor } from '../support/wait-for';

const minutes = 60_000;
const MiB = 2 ** 20;
/** Made by the guest's shell of parts, so that what was typed is not it. */
const needle = 'kept-4242-in-memory';

/** Whether the file has the text, read in parts. */
const holds = async (path: string, text: string): Promise<boolean> => {
  let tail = '';
  for await (const chunk of createReadStream(path, { highWaterMark: 4 * MiB }) as AsyncIterable<Buffer>) {
    const seen = tail + chunk.toString('latin1');
    if (seen.includes(text)) return true;
    tail = seen.slice(-text.length);
  }
  return false;
};

describe('the memory of a real guest, as a core dump', () => {
  let cloud: TestCloud;
  let desk: string;
  let uptime: string;
  const path = '/instances/held/core-dumps?project=default' as const;
  const vcctl = (...args: string[]): string =>
    execFileSync(process.execPath, ['dist/src/vcctl.js', ...args], {
      encoding: 'utf8',
      env: { ...process.env, VCCTL_CONFIG: join(desk, 'config.yaml') },
      timeout: 120_000,
    });
  const dumps = async () => (await cloud.api.ok('GET', path)).items;
  const ask = async (format?: 'elf' | 'kdump-zlib'): Promise<{ taskId: string; coreDumpId: string }> =>
    cloud.api.ok('POST', '/instances/held/actions/core-dump?project=default', format === undefined ? {} : { format });
  const removeAll = async (): Promise<void> => {
    for (const { id } of await dumps())
      await cloud.settled((await cloud.api.ok('DELETE', `/instances/held/core-dumps/${id}?project=default`)).taskId);
  };
  const files = async (): Promise<string[]> => {
    const folder = join(cloud.stateOf('h1'), 'instances', (await cloud.instance('held')).id, 'core-dumps');
    return existsSync(folder) ? readdirSync(folder) : [];
  };
  /** The guest is the one of before: it answers, and knows what it was told. */
  const goesOn = async (): Promise<void> => {
    const screen = await cloud.console('held');
    await screen.ask('echo "has <$word>"', new RegExp(`has <${needle}>`));
    screen.close();
    expect(await cloud.instance('held')).toMatchObject({ state: 'running', startedAt: uptime, taskId: null });
  };
  const get = (token: string, id: string, headers: Record<string, string> = {}): Promise<IncomingMessage> =>
    new Promise((resolve, reject) =>
      request(
        `${cloud.api.url}/api/v1/instances/held/core-dumps/${id}/content?project=default`,
        { rejectUnauthorized: false, headers: { authorization: `Bearer ${token}`, ...headers } },
        resolve,
      )
        .once('error', reject)
        .end(),
    );

  beforeAll(async () => {
    desk = mkdtempSync('/tmp/vcs-core-');
    cloud = await TestCloud.start('core', { hosts: ['h1'] });
    await cloud.furnish();
    const { taskId } = await cloud.create('held', { vmm: 'qemu' });
    await cloud.settled(taskId);
    const screen = await cloud.console('held');
    await screen.until(/@@ ready held/);
    await screen.ask('word="kept-$((4200 + 42))-in-memory"; echo noted $((40 + 2))', /noted 42/);
    screen.close();
    uptime = (await cloud.instance('held')).startedAt ?? '';
    const { rootFingerprint } = JSON.parse(
      readFileSync(join(cloud.directory, 'management', 'state', 'management', 'tls', 'server.json'), 'utf8'),
    ) as { rootFingerprint: string };
    execFileSync(
      process.execPath,
      [
        'dist/src/vcctl.js',
        'login',
        cloud.api.url,
        '--fingerprint',
        rootFingerprint,
        '--user',
        'admin',
        '--password-stdin',
      ],
      { input: cloud.adminPassword, env: { ...process.env, VCCTL_CONFIG: join(desk, 'config.yaml') } },
    );
  }, 4 * minutes);
  beforeEach(() => removeAll());
  afterAll(async () => {
    await cloud?.close();
    if (desk) rmSync(desk, { recursive: true, force: true });
  }, 2 * minutes);

  it(
    'is made, listed, downloaded and deleted by vcctl; what the guest knew is in it, and the guest goes on',
    async () => {
      expect(vcctl('instance', 'core-dump', 'held', '--wait')).toMatch(/Write the memory of the virtual machine/);
      await goesOn();
      const [dump] = await dumps();
      expect(dump).toMatchObject({ format: 'elf' });
      expect(vcctl('instance', 'core-dumps', 'held')).toMatch(/elf/);
      const file = join(desk, 'held.core');
      vcctl('instance', 'download-core-dump', 'held', '--file', file);
      expect([statSync(file).size, statSync(file).mode & 0o777]).toEqual([dump?.bytes, 0o600]);
      expect(spawnSync('readelf', ['-h', file], { encoding: 'utf8' }).stdout).toMatch(/CORE/);
      expect(await holds(file, needle)).toBe(true);
      // What an interrupted download has left is gone on with.
      const part = join(desk, 'part.core');
      writeFileSync(part, readFileSync(file).subarray(0, 77 * MiB + 5));
      vcctl('instance', 'download-core-dump', 'held', dump?.id.slice(0, 30) ?? '', '--file', part, '--resume');
      expect(spawnSync('cmp', [file, part]).status).toBe(0);
      expect(() => vcctl('instance', 'download-core-dump', 'held', '--file', file)).toThrow(/is there already/);
      vcctl('instance', 'delete-core-dump', 'held', dump?.id ?? '', '--yes', '--wait');
      expect([await dumps(), await files()]).toEqual([[], []]);
      const { items } = await cloud.api.ok('GET', '/tasks?project=default');
      const made = await cloud.api.ok(
        'GET',
        `/tasks/${items.find(({ type }) => type === 'instance.core-dump')?.id ?? ''}`,
      );
      expect(made.steps.map(({ state }) => state)).toEqual(['succeeded', 'succeeded', 'succeeded']);
    },
    3 * minutes,
  );

  it(
    'is compressed where that is asked for, bound in number, and of a paused guest too',
    async () => {
      const pause = await cloud.api.ok('POST', '/instances/held/actions/pause?project=default');
      await cloud.settled(pause.taskId);
      await cloud.settled((await ask('kdump-zlib')).taskId);
      expect(await cloud.instance('held')).toMatchObject({ state: 'paused' });
      const [small] = await dumps();
      expect(small).toMatchObject({ format: 'kdump-zlib' });
      expect(small?.bytes).toBeLessThan(120 * MiB);
      const resume = await cloud.api.ok('POST', '/instances/held/actions/resume?project=default');
      await cloud.settled(resume.taskId);
      for (let more = 0; more < 2; more += 1) await cloud.settled((await ask('kdump-zlib')).taskId);
      const refused = await cloud.settled((await ask()).taskId, 'failed');
      expect(refused.error).toMatchObject({ code: 'too_many_core_dumps' });
      expect((await files()).length).toBe(3);
      await removeAll();
      await goesOn();
    },
    3 * minutes,
  );

  it(
    'leaves nothing when its task is cancelled, and when the agent is killed in the midst: the guest goes on',
    async () => {
      /** In the midst of one, as far as files tell. */
      const midst = async (): Promise<string> => {
        for (let attempt = 0; attempt < 10; attempt += 1) {
          const { taskId } = await ask();
          const begun = await waitFor('a dump to begin', async () => (await files()).length > 0, 30_000).then(
            async () => (await files()).some((name) => name.endsWith('.part')),
          );
          if (begun) return taskId;
          await cloud.settled(taskId);
          await removeAll();
        }
        throw new Error('no dump was seen while it was made');
      };
      const agent = cloud.host('h1');
      const cut = await midst();
      await agent.end('SIGKILL');
      // Whatever QEMU was at: nobody reads it any more, and its guest answers without an agent.
      expect(await files()).toEqual([expect.stringMatching(/\.part$/)]);
      await agent.start();
      await cloud.hostState('h1', 'ready');
      // Management asks again, and the same dump is made whole.
      await cloud.settled(cut);
      expect((await files()).map((name) => name.replace(/.*\./, ''))).toEqual(['elf']);
      await goesOn();
      await removeAll();

      const cancelled = await midst();
      await cloud.api.call('POST', `/tasks/${cancelled}/actions/cancel`);
      const state = await eventually('its end', async () => {
        const { state: now } = await cloud.api.ok('GET', `/tasks/${cancelled}`);
        return ['succeeded', 'cancelled'].includes(now) && now;
      });
      if (state === 'cancelled') expect([await dumps(), await files()]).toEqual([[], []]);
      await removeAll();
      await goesOn();
    },
    4 * minutes,
  );

  it(
    'is nothing for members, nor for another project; a download ends with the right to it',
    async () => {
      await cloud.settled((await ask()).taskId);
      const [dump] = await dumps();
      const id = dump?.id ?? '';
      const password = 'a long enough password';
      const other = await cloud.api.ok('POST', '/projects', { name: 'other' });
      const { items } = await cloud.api.ok('GET', '/projects');
      const own = items.find(({ name }) => name === 'default')?.id ?? '';
      const join = async (name: string, project: string, role: 'member' | 'project-admin'): Promise<ApiClient> => {
        const user = await cloud.api.ok('POST', '/users', { name, password });
        await cloud.api.ok('PUT', `/projects/${project}/members/${user.id}`, { role });
        const client = new ApiClient(cloud.api.url);
        await client.login(name, password);
        return client;
      };
      const member = await join('member', own, 'member');
      const keeper = await join('keeper', own, 'project-admin');
      const stranger = await join('stranger', other.id, 'project-admin');
      const instance = (await cloud.instance('held')).id;
      for (const [who, status] of [
        [member, 403],
        [stranger, 404],
      ] as const) {
        expect((await who.call('GET', `/instances/${instance}/core-dumps`)).status).toBe(status);
        expect((await who.call('POST', `/instances/${instance}/actions/core-dump`, {})).status).toBe(status);
        expect((await who.unchecked('GET', `/instances/${instance}/core-dumps/${id}/content`)).status).toBe(status);
        expect((await who.call('DELETE', `/instances/${instance}/core-dumps/${id}`)).status).toBe(status);
      }
      // A right is taken away while the reader takes its time.
      const answer = await get(keeper.token, id);
      expect(answer.statusCode).toBe(200);
      const ended = new Promise<string>((resolve) => {
        answer.once('aborted', () => resolve('cut'));
        answer.once('error', () => resolve('cut'));
        answer.once('end', () => resolve('all'));
      });
      answer.once('data', () => answer.pause());
      const user = (await cloud.api.ok('GET', '/users?q=keeper')).items[0]?.id ?? '';
      await cloud.api.ok('DELETE', `/projects/${own}/members/${user}`);
      await waitFor('the right to be gone', async () => (await get(keeper.token, id)).statusCode !== 200, 20_000);
      answer.resume();
      expect(await ended).toBe('cut');
      const beyond = await get(cloud.api.token, id, { range: `bytes=${dump?.bytes ?? 0}-` });
      expect(beyond.statusCode).toBe(416);
      expect((await get(cloud.api.token, '00000000-0000-4000-8000-000000000000')).statusCode).toBe(404);
      for (const client of [member, keeper, stranger]) await client.close();
    },
    3 * minutes,
  );

  it(
    'is with its host: without that, nobody has it; and it goes with its instance',
    async () => {
      await cloud.settled((await ask()).taskId);
      const [dump] = await dumps();
      expect((await files()).length).toBe(1);
      const agent = cloud.host('h1');
      await agent.end('SIGKILL');
      expect(await cloud.api.call('GET', path)).toMatchObject({ status: 503, body: { code: 'host_unreachable' } });
      expect((await get(cloud.api.token, dump?.id ?? '')).statusCode).toBe(503);
      await agent.start();
      await cloud.hostState('h1', 'ready');
      expect(await dumps()).toEqual([dump]);
      const stop = await cloud.api.ok('POST', '/instances/held/actions/stop?project=default', { force: true });
      await cloud.settled(stop.taskId);
      expect(await cloud.api.call('POST', '/instances/held/actions/core-dump?project=default', {})).toMatchObject({
        status: 409,
        body: { code: 'instance_stopped', state: 'stopped' },
      });
      const folder = join(cloud.stateOf('h1'), 'instances', (await cloud.instance('held')).id);
      await cloud.settled((await cloud.api.ok('DELETE', '/instances/held?project=default')).taskId);
      expect(existsSync(folder)).toBe(false);
    },
    3 * minutes,
  );
});
