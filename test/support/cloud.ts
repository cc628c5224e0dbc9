import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import WebSocket from 'ws';
import type { Instance } from '../../src/modules/compute/contract/compute.api';
import type { Host } from '../../src/modules/host/contract/host.api';
import { hostHash, netnsPrefix } from '../../src/modules/network/node/drivers/linux/names';
import type { TaskDetail } from '../../src/modules/task/contract/task.api';
import type { BodyOf } from '../../src/rest/rest-call';
import { ApiClient } from './api-client';
import { sh, TestNamespaces } from './namespaces';
import { repositoryRoot } from './repository';
import { runTag } from './run-names';
import { StackProcess } from './stack-process';
import { TestConsole } from './test-console';
import { eventually } from './eventually';

/** The first three numbers of a network that this machine has no address in; from another one for each run and name. */
const freeSubnet = (name: string): string => {
  const addresses = sh('ip', '-4', '-o', 'addr', 'show');
  for (let attempt = 0; ; attempt += 1) {
    const hash = createHash('sha256').update(`${name} ${process.pid} ${attempt}`).digest();
    const subnet = `10.${192 + (hash.readUInt8(0) % 63)}.${hash.readUInt8(1)}`;
    if (!addresses.includes(` ${subnet}.`)) return subnet;
  }
};

/** Path of the test guest's image, built when it is not in the cache. */
export const guestImage = (): string =>
  execFileSync('bash', [join(repositoryRoot, 'test/guest/build-guest'), join(repositoryRoot, '.cache')], {
    encoding: 'utf8',
  })
    .trim()
    .split('\n')
    .pop() ?? '';

/**
 * A whole cloud on one machine: management and each host in a network namespace of their own on one underlay, and an
 * "outside" that hosts route to. The test reaches management over a link of its own. Everything is removed by `close`.
 */
export class TestCloud {
  readonly directory: string;
  readonly api: ApiClient;
  readonly management: StackProcess;
  readonly hosts = new Map<string, StackProcess>();
  private readonly hostEnv = new Map<string, Record<string, string>>();
  private readonly namespaces: TestNamespaces;
  private readonly underlay: string;
  private readonly outside: string;
  private nextHost = 11;
  /** Of this cloud alone: two of them, of a test and of a benchmark, say, must not answer for each other. */
  private readonly subnet: string;

  private constructor(
    readonly name: string,
    managementEnv: Record<string, string>,
  ) {
    this.directory = mkdtempSync(`/tmp/vcs-${name}-`);
    chmodSync(this.directory, 0o755);
    this.namespaces = new TestNamespaces(`t-${name}`);
    this.subnet = freeSubnet(name);
    this.underlay = this.namespaces.add('net');
    sh('ip', '-n', this.underlay, 'link', 'add', 'name', 'under0', 'type', 'bridge');
    sh('ip', '-n', this.underlay, 'link', 'set', 'under0', 'up');
    this.outside = this.namespaces.add('out');
    this.namespaces.join(this.outside, this.underlay, 'under0', `${this.subnet}.254/24`);
    sh('ip', '-n', this.outside, 'addr', 'add', '198.51.100.1/32', 'dev', 'lo');
    const managementNs = this.namespaces.add('mgm');
    this.namespaces.join(managementNs, this.underlay, 'under0', `${this.subnet}.1/24`);
    this.management = new StackProcess({
      role: 'management',
      netns: managementNs,
      directory: this.directory,
      name: 'management',
      env: this.environment('management', { VC_STACK_MANAGEMENT__ADDRESS: `${this.subnet}.1`, ...managementEnv }),
    });
    const link = `t-${runTag()}-${name}`.slice(0, 15);
    sh('ip', 'link', 'add', link, 'type', 'veth', 'peer', 'name', 'p-test', 'netns', this.underlay);
    sh('ip', '-n', this.underlay, 'link', 'set', 'p-test', 'master', 'under0', 'up');
    sh('ip', 'addr', 'add', `${this.subnet}.100/24`, 'dev', link);
    sh('ip', 'link', 'set', link, 'up');
    this.api = new ApiClient(`https://${this.subnet}.1:8443`);
  }

  static async start(
    name: string,
    options: { hosts?: string[]; managementEnv?: Record<string, string>; computeEnv?: Record<string, string> } = {},
  ): Promise<TestCloud> {
    const cloud = new TestCloud(name, options.managementEnv ?? {});
    try {
      await cloud.management.start();
      await cloud.login();
      for (const host of options.hosts ?? ['h1']) await cloud.addHost(host, options.computeEnv);
      for (const host of options.hosts ?? ['h1']) await cloud.hostState(host, 'ready');
      return cloud;
    } catch (error) {
      // What failed first is what counts.
      await cloud.close().catch(() => undefined);
      throw error;
    }
  }

  get adminPassword(): string {
    return readFileSync(join(this.directory, 'management', 'state', 'management', 'admin-password'), 'utf8').trim();
  }

  login(): Promise<void> {
    return this.api.login('admin', this.adminPassword);
  }

  /** A further host joins with a one-time token: that of the environment, or one that is made for it. */
  async addHost(name: string, env: Record<string, string> = {}): Promise<StackProcess> {
    const netns = this.namespaces.add(name);
    this.namespaces.join(netns, this.underlay, 'under0', `${this.subnet}.${this.nextHost++}/24`);
    sh('ip', '-n', netns, 'route', 'add', 'default', 'via', `${this.subnet}.254`);
    const token = env['VC_STACK_COMPUTE__TOKEN'] ?? (await this.api.ok('POST', '/host-tokens', {})).token;
    const host = new StackProcess({
      role: 'compute',
      netns,
      directory: this.directory,
      name,
      env: this.environment(name, { VC_STACK_COMPUTE__NAME: name, VC_STACK_COMPUTE__TOKEN: token, ...env }),
    });
    this.hosts.set(name, host);
    this.hostEnv.set(name, env);
    await host.start();
    return host;
  }

  /** A namespace for a user's programs, with the underlay as its only network. Gives its name. */
  addDesk(): string {
    const desk = this.namespaces.add('desk');
    // An IPv6 address becomes usable a second or two after its link: a change, at which Chromium gives up what it is
    // loading.
    this.namespaces.run(
      desk,
      'sysctl',
      '-qw',
      'net.ipv6.conf.all.disable_ipv6=1',
      'net.ipv6.conf.default.disable_ipv6=1',
    );
    this.namespaces.join(desk, this.underlay, 'under0', `${this.subnet}.101/24`);
    return desk;
  }

  /** Full name of one of its namespaces: that of a host, `net` (the underlay), `out` (the outside), `mgm`. */
  namespaceOf(name: string): string {
    return `${this.namespaces.prefix}-${name}`;
  }

  host(name: string): StackProcess {
    const host = this.hosts.get(name);
    if (!host) throw new Error(`no host ${name}`);
    return host;
  }

  hostState(name: string, state: string, timeoutMs = 60_000): Promise<Host> {
    let seen = '';
    return eventually(
      `host ${name} ${state}`,
      async () => {
        const { items } = await this.api.ok('GET', '/hosts');
        const host = items.find((h) => h.name === name);
        seen = JSON.stringify(host);
        return host?.state === state && host;
      },
      timeoutMs,
    ).catch((error: Error) => {
      throw new Error(`${error.message}; last seen: ${seen}\n${this.hosts.get(name)?.tail()}`);
    });
  }

  /** Where a host keeps its persistent files. */
  stateOf(name: string): string {
    return join(this.directory, name, 'state', 'compute');
  }

  /** The standard image, flavor, network and key that most tests need. */
  async furnish(): Promise<void> {
    const created = await this.api.ok('POST', '/images?project=default', { name: 'linux' });
    await this.api.ok('PUT', `/images/${created.id}/content`, readFileSync(guestImage()));
    await this.api.ok('POST', '/flavors', { name: 'tiny', vcpus: 1, memoryBytes: 192 * 2 ** 20 });
    await this.api.ok('POST', '/networks?project=default', { name: 'n1', subnet: '10.10.0.0/24' });
  }

  async create(
    name: string,
    more: Partial<BodyOf<'post', '/instances'>> = {},
  ): Promise<{ instance: Instance; taskId: string }> {
    return this.api.ok('POST', '/instances?project=default', {
      name,
      flavor: 'tiny',
      image: 'linux',
      networks: [{ network: 'n1' }],
      ...more,
    });
  }

  /** The task's end; throws with its error when it is another than wanted. */
  async settled(taskId: string, wanted = 'succeeded', timeoutMs = 90_000): Promise<TaskDetail> {
    const end = Date.now() + timeoutMs;
    for (;;) {
      const { status, body: task } = await this.api.call('GET', `/tasks/${taskId}?wait=20s`);
      // On a loaded machine a management that has just been started may have to wait for its database: what is asked
      // for is the task's end.
      if (status === 503 && Date.now() < end) {
        await delay(1_000);
        continue;
      }
      if (status !== 200) throw new Error(`task ${taskId}: ${status} ${JSON.stringify(task)}`);
      if (['succeeded', 'failed', 'cancelled', 'stuck'].includes(task.state)) {
        if (task.state !== wanted)
          throw new Error(
            `task ${task.type} is ${task.state}: ${JSON.stringify(task.error)} ${JSON.stringify(task.steps.filter((s) => s.error))}`,
          );
        return task;
      }
      if (Date.now() > end)
        throw new Error(
          `task ${task.type} is still ${task.state} at ${task.step}: ${JSON.stringify(task.steps.at(-1))}`,
        );
    }
  }

  instance(ref: string): Promise<Instance> {
    return this.api.ok('GET', `/instances/${ref}?project=default`);
  }

  /** Opens the serial console; `text` grows with the guest's output. */
  async console(ref: string, project = 'default'): Promise<TestConsole> {
    const { path } = await this.api.ok('POST', `/instances/${ref}/actions/console?project=${project}`);
    const socket = new WebSocket(`${this.api.url.replace('https', 'wss')}${path}`, { rejectUnauthorized: false });
    await new Promise<void>((done, fail) => {
      socket.once('open', done);
      socket.once('error', fail);
    });
    return new TestConsole(socket);
  }

  /** An HTTP server in the outside, at 198.51.100.1:8000, that answers with `text`. */
  async serveOutside(text: string): Promise<() => Promise<void>> {
    const child = this.namespaces.spawn(this.outside, process.execPath, [
      '-e',
      `require('node:http').createServer((q, r) => r.end(${JSON.stringify(text)})).listen(8000, '198.51.100.1')`,
    ]);
    await eventually('the outside server', () => {
      try {
        return this.namespaces.run(this.outside, 'ss', '-Hltn', 'sport = :8000') !== '';
      } catch {
        return false;
      }
    });
    return async () => {
      child.kill('SIGKILL');
    };
  }

  /** Namespaces that its hosts have made, for instances, networks and routers. */
  madeNamespaces(): string[] {
    return sh('ip', 'netns', 'list')
      .split('\n')
      .map((line) => line.split(' ')[0] ?? '')
      .filter((name) => name.startsWith('vcs-') && this.ownsNamespace(name));
  }

  /** Processes, namespaces and files that instances left on this machine's test hosts. Empty when all is well. */
  leftovers(): string[] {
    const found: string[] = [];
    for (const name of this.hosts.keys()) {
      for (const sub of ['instances', 'pools/default/volumes']) {
        let entries: string[] = [];
        try {
          entries = readdirSync(join(this.stateOf(name), sub));
        } catch {
          entries = [];
        }
        for (const entry of entries) found.push(`${name}: ${sub}/${entry}`);
      }
    }
    for (const name of this.madeNamespaces()) found.push(`namespace ${name}`);
    for (const pid of readdirSync('/proc').filter((n) => /^\d+$/.test(n))) {
      let cmdline = '';
      try {
        cmdline = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      } catch {
        continue;
      }
      if (cmdline.includes(this.directory) && !cmdline.includes('dist/src/main.js') && !cmdline.includes('postgres'))
        found.push(`process ${pid}: ${cmdline.slice(0, 120)}`);
    }
    return found;
  }

  /** Ends everything and removes every trace, guests included. Throws at the end when a host could not be cleared. */
  async close(): Promise<void> {
    const failures: unknown[] = [];
    await this.api.close().catch(() => undefined);
    for (const [name, host] of this.hosts) {
      host.signal('SIGCONT');
      await host.end();
      const purge = new StackProcess({
        role: 'purge',
        netns: `${this.namespaces.prefix}-${name}`,
        directory: this.directory,
        name: `${name}-purge`,
        env: this.environment(name, this.hostEnv.get(name) ?? {}),
        args: ['--yes'],
      });
      await purge.complete().catch((error: unknown) => failures.push(error));
    }
    await this.management.end();
    this.namespaces.close();
    if (process.env['VC_STACK_TEST_KEEP'] === undefined) rmSync(this.directory, { recursive: true, force: true });
    if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join('\n'));
  }

  private ownsNamespace(name: string): boolean {
    return [...this.hosts.keys()].some((host) => {
      try {
        const { hostId } = JSON.parse(readFileSync(join(this.stateOf(host), 'identity', 'identity.json'), 'utf8')) as {
          hostId: string;
        };
        return name.startsWith(netnsPrefix(hostHash(hostId)));
      } catch {
        return false;
      }
    });
  }

  private environment(name: string, more: Record<string, string>): Record<string, string> {
    const base = join(this.directory, name);
    mkdirSync(base, { recursive: true, mode: 0o755 });
    return { VC_STACK_STATE_DIR: join(base, 'state'), VC_STACK_RUN_DIR: join(base, 'run'), ...more };
  }
}
