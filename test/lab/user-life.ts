import WebSocket from 'ws';
import { ApiClient } from '../support/api-client';
import { eventually } from '../support/eventually';
import { TestConsole } from '../support/test-console';
import type { LabHost } from './lab-host';
import type { Tally } from './tally';

const minute = 60_000;
/** The lab's processor does in ten minutes what others do in one. */
const quickstartMs = 15 * minute;
const taskMs = 5 * minute;
const guestMs = 4 * minute;

const expectThat = (holds: boolean, what: string): void => {
  if (!holds) throw new Error(what);
};

/** What somebody with one host does: `bin/quickstart`, then the life of an instance by the REST API. */
export class UserLife {
  private readonly api: ApiClient;

  constructor(
    private readonly lab: LabHost,
    private readonly tally: Tally,
  ) {
    this.api = new ApiClient(`https://127.0.0.1:${lab.apiPort}`);
  }

  /** Whether there is a cloud to go on with. */
  quickstart(): Promise<boolean> {
    return this.tally.try('bin/quickstart comes to a running guest, by KVM', async () => {
      const said = await this.run();
      expectThat(/qemu \S+ with kvm: KVM boots guests/.test(said), `it did not find that KVM boots guests:\n${said}`);
      const password = await this.lab.sh('cat /var/lib/vc-stack/management/admin-password');
      await this.api.login('admin', password);
      const { state, vmm } = await this.api.ok('GET', '/instances/quickstart?project=default');
      expectThat(state === 'running' && vmm === 'qemu', `its instance is ${state} on ${vmm}`);
      await this.removed('quickstart');
    });
  }

  /** Installs a program for the host, and has the agent find it. */
  install(vmm: 'cloud-hypervisor', files: readonly string[]): Promise<boolean> {
    return this.tally.try(`${vmm}: the agent finds it, and that its guests run here`, async () => {
      await this.lab.sh(files.join(' && '));
      await this.restart();
      const { items } = await this.api.ok('GET', '/hosts');
      const { inventory } = await this.api.ok('GET', `/hosts/${items[0]?.id ?? ''}`);
      const found = inventory?.vmms.find(({ kind }) => kind === vmm);
      expectThat(found?.usable === true, `not usable: ${JSON.stringify(found)}`);
      expectThat(found?.capabilities.includes('landlock') === true, `no Landlock: ${JSON.stringify(found)}`);
    });
  }

  /** An instance on that VMM: booted, consoled, stopped, started, outliving its agent, deleted. */
  async life(vmm: 'qemu' | 'cloud-hypervisor'): Promise<void> {
    const name = `lab-${vmm}`;
    let id = '';
    const begun = await this.tally.try(
      `${vmm}: an instance runs, has its lease and answers at its console`,
      async () => {
        const { instance, taskId } = await this.api.ok('POST', '/instances?project=default', {
          name,
          flavor: 'quickstart',
          image: 'quickstart',
          networks: [{ network: 'quickstart' }],
          vmm,
        });
        id = instance.id;
        await this.settled(taskId);
        const console = await this.console(name);
        await console.until(/@@ lease/, guestMs);
        await console.ask('echo c$((40+2))', /c42/, guestMs);
        console.close();
        expectThat((await this.show(name)).vmm === vmm, 'it runs on another VMM');
      },
    );
    if (!begun) return this.tally.skip(`${vmm}: the rest of its life, for it did not begin`);
    await this.tally.try(`${vmm}: it goes on while vc-stack is killed and started anew`, async () => {
      const before = await this.processesOf(id);
      expectThat(before !== '', 'it has no process');
      await this.lab.sh("kill -9 $(cut -d' ' -f1 /run/vc-stack/vc-stack.pid)");
      await this.run();
      expectThat((await this.processesOf(id)) === before, 'its processes are others');
      await eventually('running again', async () => (await this.show(name)).state === 'running', minute);
    });
    await this.tally.try(`${vmm}: it stops by its power button, and starts again`, async () => {
      await this.settled((await this.api.ok('POST', `/instances/${name}/actions/stop?project=default`)).taskId);
      const { state, lastExit } = await this.show(name);
      expectThat(state === 'stopped' && lastExit?.reason === 'power-button', `${state}: ${JSON.stringify(lastExit)}`);
      await this.settled((await this.api.ok('POST', `/instances/${name}/actions/start?project=default`)).taskId);
      const console = await this.console(name);
      await console.ask('echo d$((40+2))', /d42/, guestMs);
      console.close();
    });
    await this.tally.try(`${vmm}: it is deleted and leaves nothing`, async () => {
      await this.removed(name);
      expectThat((await this.processesOf(id)) === '', 'processes are left');
      const left = await this.lab.sh(
        `find /run/vc-stack /var/lib/vc-stack/compute /sys/fs/cgroup -name '*${id}*'; ip netns list | grep -- '-i-' || true`,
      );
      expectThat(left === '', `left: ${left}`);
    });
  }

  async down(): Promise<void> {
    await this.tally.try('bin/quickstart --down removes all of it', async () => {
      await this.lab.sh('cd /opt/vc-stack && bin/quickstart --down', quickstartMs);
      const left = await this.lab.sh(
        'ls -d /var/lib/vc-stack /run/vc-stack 2>/dev/null; ip netns list; nft list tables | grep vcs || true',
      );
      expectThat(left === '', `left: ${left}`);
    });
    await this.api.close();
  }

  private run(): Promise<string> {
    return this.lab.sh('cd /opt/vc-stack && bin/quickstart 2>&1', quickstartMs);
  }

  private async restart(): Promise<void> {
    await this.lab.sh(
      'read -r pid since < /run/vc-stack/vc-stack.pid; kill -TERM $pid; while [ -d /proc/$pid ]; do sleep 0.5; done',
      2 * minute,
    );
    await this.run();
    const { id } = await this.show('quickstart');
    await this.removed(id);
  }

  private show(name: string) {
    return this.api.ok('GET', `/instances/${name}?project=default`);
  }

  private async removed(name: string): Promise<void> {
    await this.settled((await this.api.ok('DELETE', `/instances/${name}?project=default`)).taskId);
  }

  private async settled(taskId: string): Promise<void> {
    const end = Date.now() + taskMs;
    for (;;) {
      const { type, state, error, steps } = await this.api.ok('GET', `/tasks/${taskId}?wait=20s`);
      if (state === 'succeeded') return;
      const over = ['failed', 'cancelled', 'stuck'].includes(state);
      if (over || Date.now() > end)
        throw new Error(`${type} is ${state}: ${JSON.stringify(error)} ${JSON.stringify(steps.at(-1))}`);
    }
  }

  private async console(name: string): Promise<TestConsole> {
    const { path } = await this.api.ok('POST', `/instances/${name}/actions/console?project=default`);
    const socket = new WebSocket(`${this.api.url.replace('https', 'wss')}${path}`, { rejectUnauthorized: false });
    await new Promise<void>((done, fail) => {
      socket.once('open', done);
      socket.once('error', fail);
    });
    return new TestConsole(socket);
  }

  /** Process ids of its VMM and of who waits for it, a line each. */
  private processesOf(id: string): Promise<string> {
    // Not the shell that asks.
    return this.lab.sh(`pgrep -f '[${id.slice(0, 1)}]${id.slice(1)}' || true`);
  }
}
