import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { Agent, request } from 'undici';
import { z } from 'zod';
import { ComputeApp } from '../../../src/core/app/compute-app';
import { configSchemasOf, scenariosOf } from '../../../src/core/app/declarations';
import type { ModuleManifest } from '../../../src/core/app/module-manifest';
import { inspectServer } from '../../../src/core/cli/session/server-trust';
import { loadConfig } from '../../../src/core/config/config-loader';
import { type AnyVerb, defineVerb } from '../../../src/core/m2m/verbs/verb';
import { ConsoleAssets } from '../../../src/core/http/server/console-assets';
import { Logging } from '../../../src/core/telemetry/logging';
import { allModules } from '../../../src/modules/all-modules';
import type { TaskDetail } from '../../../src/modules/task/contract/task.api';
import { beaconModule } from '../../fixtures/beacon/beacon.module';
import { beaconTable } from '../../fixtures/beacon/management/beacon.repository';
import type { HostDetail } from '../../../src/modules/host/contract/host.api';
import type { Beacon } from '../../fixtures/beacon/contract/beacon.api';
import { EventFollower, type SeenEvent } from '../../model/event-follower';
import { ManagementStack } from '../../security/management-stack';
import { eventually } from '../../support/eventually';
import { ConsoleBrowser } from '../../support/console-browser';
import { buildConsoleWith } from '../../support/console-build';
import { sh, TestNamespaces } from '../../support/namespaces';
import { repositoryRoot } from '../../support/repository';
import { runTag } from '../../support/run-names';
import { runHere } from '../cli/vcctl-lab';

jest.setTimeout(180_000);
/** A folder for a picture of the host's page; none is taken without it. */
const album = process.env['VC_STACK_TEST_PICTURES'];

/** What lighting one answers: the document of the product knows no beacons. */
interface Lit {
  beacon: Beacon;
  taskId: string;
}

/** The one line. */
const modules: readonly ModuleManifest[] = [...allModules, beaconModule];

describe('a module that is one folder and one line', () => {
  let stack: ManagementStack;
  let agent: ComputeApp;
  let hostId: string;
  const lamp = (id: string): string => join(stack.directory, 'lighthouse', 'compute', 'beacons', id);

  let build: string;
  let namespaces: TestNamespaces;
  let desk: string;
  /** The way between the browser's namespace and here: a network of this run alone, of the link's own. */
  const block = process.pid % 16_384;
  const [here, there] = [1, 2].map((n) => `10.191.${block >> 6}.${(block % 64) * 4 + n}`) as [string, string];
  const link = `t-beacon-${runTag()}`;

  beforeAll(async () => {
    build = buildConsoleWith(join(repositoryRoot, 'test/fixtures/beacon/web/src/features/beacons'), 'beacons');
    const { handlers } = ConsoleAssets.prototype;
    jest.spyOn(ConsoleAssets.prototype, 'handlers').mockImplementation(function (this: ConsoleAssets) {
      return handlers.call(Object.assign(this, { directory: build }));
    });
    namespaces = new TestNamespaces('t-beacon');
    desk = namespaces.add('desk');
    sh('ip', 'link', 'add', link, 'type', 'veth', 'peer', 'name', 'up0', 'netns', desk);
    sh('ip', 'addr', 'add', `${here}/30`, 'dev', link);
    sh('ip', 'link', 'set', link, 'up');
    namespaces.run(desk, 'sysctl', '-qw', 'net.ipv6.conf.all.disable_ipv6=1');
    sh('ip', '-n', desk, 'addr', 'add', `${there}/30`, 'dev', 'up0');
    sh('ip', '-n', desk, 'link', 'set', 'up0', 'up');
    stack = await ManagementStack.start({ VC_STACK_MANAGEMENT__LISTEN: '0.0.0.0' }, undefined, modules);
    await stack.db.database.query(beaconTable);
    agent = await agentOf('lighthouse', modules);
    await agent.start(await stack.app.localToken());
    hostId = (await stack.admin.ok('GET', '/hosts')).items[0]?.id ?? '';
  });
  /** An agent with these modules, not yet started. */
  const agentOf = async (name: string, manifests: readonly ModuleManifest[]): Promise<ComputeApp> => {
    const config = await loadConfig({
      modules: await configSchemasOf(modules),
      env: {
        VC_STACK_STATE_DIR: join(stack.directory, name),
        VC_STACK_RUN_DIR: join(stack.directory, name, 'r'),
        VC_STACK_COMPUTE__NAME: name,
        VC_STACK_COMPUTE__LISTEN: '127.0.0.1',
        VC_STACK_COMPUTE__ADDRESS: '127.0.0.1',
        VC_STACK_COMPUTE__PORT: '0',
        VC_STACK_MODULES__COMPUTE__DRIVERS: '[simulated]',
        VC_STACK_MODULES__IMAGE__NODE_DRIVER: 'simulated',
        VC_STACK_MODULES__STORAGE__DRIVER: 'simulated',
        VC_STACK_MODULES__NETWORK__DRIVER: 'simulated',
        VC_STACK_MODULES__BEACON__BROKEN_COLOUR: 'black',
      },
    });
    return new ComputeApp(config, new Logging(pino({ enabled: false })), manifests);
  };
  afterAll(async () => {
    await agent?.stop();
    await stack?.close();
    namespaces?.close();
    if (build) rmSync(build, { recursive: true, force: true });
    jest.restoreAllMocks();
  });

  const ended = (api: ManagementStack['admin'], taskId: string): Promise<TaskDetail> =>
    eventually('the end of the task', async () => {
      const task = await api.ok('GET', `/tasks/${taskId}`);
      return ['succeeded', 'failed'].includes(task.state) && task;
    });

  /** What the command prints; it must succeed. */
  const vcctl = async (...args: string[]): Promise<string> => {
    const file = join(stack.directory, 'vcctl.yaml');
    const ca = (await inspectServer(stack.url)).chain.at(-1)?.pem;
    writeFileSync(
      file,
      JSON.stringify({
        current: 'x',
        profiles: [{ name: 'x', url: stack.url, ca, project: 'default', apiToken: stack.admin.token }],
      }),
    );
    const { code, out } = await runHere(
      { PATH: process.env['PATH'], VCCTL_CONFIG: file, HOME: stack.directory },
      args,
      modules,
    );
    expect(code).toBe(0);
    return out;
  };

  it('answers REST by the roles that it declares, acts on the host, and tells whoever may read it', async () => {
    const member = await stack.user('mia', { default: 'member' });
    const viewer = await stack.user('vera', { default: 'viewer' });
    const stranger = await stack.user('sam');
    const body = { host: hostId, colour: 'green' };
    expect((await viewer.unchecked('POST', '/beacons', body)).status).toBe(403);
    expect((await stranger.unchecked('POST', '/beacons?project=default', body)).status).toBe(404);
    const seen: SeenEvent[] = [];
    const follower = new EventFollower(viewer, (event) => void seen.push(event), 'beacon');
    await follower.start();
    const { beacon, taskId } = (await member.unchecked<Lit>('POST', '/beacons', body)).body;
    expect((await ended(member, taskId)).state).toBe('succeeded');
    expect(readFileSync(lamp(beacon.id), 'utf8')).toBe('green');
    expect((await viewer.unchecked<{ items: Beacon[] }>('GET', '/beacons')).body.items).toEqual([
      { ...beacon, state: 'lit' },
    ]);
    await eventually('the event', () => seen.some((e) => e.type === 'beacon.updated' && e.subject.id === beacon.id));
    await follower.stop();
    await eventually('the condition of the host', async () =>
      (await stack.admin.ok('GET', `/hosts/${hostId}`)).conditions.some(
        (c) => c.type === 'Lamp' && c.message === '1 are lit',
      ),
    );
  });

  it('undoes what failed, and says what to do in the words of its manifest', async () => {
    const { body: lit } = await stack.admin.unchecked<Lit>('POST', '/beacons?project=default', {
      host: hostId,
      colour: 'black',
    });
    const { beacon, taskId } = lit;
    const task = await ended(stack.admin, taskId);
    expect(task.error).toMatchObject({ code: 'beacon_broken', undone: true, hint: 'Look at the lamp of the host.' });
    expect(existsSync(lamp(beacon.id))).toBe(false);
  });

  it('has its periodic work done, and its figures told', async () => {
    const metrics = async (): Promise<string> => {
      const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
      try {
        return await (await request(`${stack.url}/metrics`, { dispatcher })).body.text();
      } finally {
        await dispatcher.destroy();
      }
    };
    await eventually('one lit beacon', async () => /^vcstack_beacons\{state="lit"\} 1$/m.test(await metrics()));
    expect(await metrics()).toMatch(/^vcstack_periodic_runs_total\{work="beacon.count"\} [1-9]/m);
    expect(await metrics()).toMatch(/^# TYPE vcstack_instances gauge$/m);
  });

  it('has its part of the inventory shown: by REST, in the API document and by vcctl', async () => {
    const lamps = [{ name: 'great', watts: 1000 }];
    await eventually(
      'the lamps',
      async () => (await stack.admin.ok('GET', `/hosts/${hostId}`)).inventory?.complete !== false,
    );
    const { inventory } = (await stack.admin.unchecked<HostDetail>('GET', `/hosts/${hostId}`)).body;
    expect(inventory?.['lamps']).toEqual(lamps);
    expect(inventory?.['vmms']).toHaveLength(1);
    const { body: document } = await stack.admin.unchecked<object>('GET', '/openapi.json');
    expect(JSON.stringify(document)).toContain('"watts"');
    expect(await vcctl('host', 'show', 'lighthouse')).toMatch(/Lamps of the lighthouse\n.*LAMP +WATTS\n.*great +1000/i);
  });

  it('has a page in the console, with a list that lives and a form that lights one', async () => {
    const assets = join(build, 'assets');
    const text = (part: string): string =>
      readdirSync(assets)
        .filter((name) => name.startsWith(`${part}-`) && name.endsWith('.js'))
        .map((name) => readFileSync(join(assets, name), 'utf8'))
        .join('\n');
    // The frame knows where it is, and loads the page with those of the others.
    expect(text('index')).toContain('Beacons of all hosts');
    expect(text('index')).not.toContain('Every beacon that is lit');
    expect(text('pages')).toContain('Every beacon that is lit');

    const url = `https://${here}:${new URL(stack.url).port}`;
    const browser = await ConsoleBrowser.at(desk, url, stack.directory);
    try {
      const page = await browser.page({ name: 'admin', password: stack.adminPassword });
      await page.getByRole('link', { name: 'Beacons of all hosts' }).click();
      await page.getByRole('heading', { level: 1, name: 'Beacons' }).waitFor();
      await page.getByRole('button', { name: 'Light a beacon' }).first().click();
      await page.getByLabel('Colour').fill('violet');
      await page.getByRole('button', { name: 'Light it' }).click();
      // Its event tells the list.
      await page
        .getByRole('row', { name: /violet/ })
        .getByText('Lit', { exact: true })
        .waitFor();
      const { body } = await stack.admin.unchecked<{ items: Beacon[] }>('GET', '/beacons');
      const made = body.items.find(({ colour }) => colour === 'violet');
      expect(readFileSync(lamp(made?.id ?? ''), 'utf8')).toBe('violet');
      await page.goto(browser.address(`hosts/${hostId}`));
      await page.getByRole('region', { name: 'Lamps' }).getByText('1000 W').waitFor();
      // The part of which it has no card is shown as it is.
      const oil = await page.getByRole('region', { name: 'Oil tanks' }).getByRole('row').allInnerTexts();
      expect(oil.map((row) => row.trim().split(/\s*\t\s*/))).toEqual([
        ['Name', 'Full', 'Size', 'Kinds'],
        ['north', 'yes', '1 GiB', 'rape, whale'],
      ]);
      if (album !== undefined) await page.screenshot({ path: join(album, 'host-with-parts.png'), fullPage: true });
      expect(browser.errors).toEqual([]);
    } finally {
      await browser.close();
    }
  });

  it('is not started on a host with a verb that its manifest does not declare, nor with one that nothing handles', async () => {
    const verbs = (await beaconModule.verbs?.()) ?? [];
    const [first] = verbs;
    if (!first) throw new Error('it has verbs');
    const started = async (name: string, declared: readonly AnyVerb[]): Promise<void> => {
      const other = await agentOf(name, [...allModules, { ...beaconModule, verbs: async () => declared }]);
      await other.start(await stack.app.localToken()).finally(() => other.stop());
    };
    await expect(started('silent', verbs.slice(1))).rejects.toThrow(`no module declares the verb "${first.name}"`);
    const unheard = defineVerb('beacon.unheard', { args: z.object({}), result: z.object({}) });
    await expect(started('deaf', [...verbs, unheard])).rejects.toThrow('no handler for "beacon.unheard"');
    expect((await stack.admin.ok('GET', '/hosts')).items.map(({ name }) => name)).toEqual(['lighthouse']);
  });

  it('is in the API document, the commands and the tests of chaos', async () => {
    const { body: document } = await stack.admin.unchecked<{ paths: object }>('GET', '/openapi.json');
    expect(Object.keys(document.paths)).toContain('/beacons');
    expect(Object.keys(await scenariosOf(modules))).toContain('beacon.light');
    expect((await vcctl('beacon', 'list', '-o', 'jsonpath=$[*].colour')).trim()).toMatch(/^green$/m);
  });
});
