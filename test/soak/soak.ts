import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { TestCloud } from '../support/cloud';
import { CollectedMemory } from '../support/collected-memory';
import { eventually } from '../support/eventually';
import { AgentFootprint, counted, type Footprint } from './agent-footprint';

export interface SoakPlan {
  vmm: 'qemu' | 'simulated';
  cycles: number;
  /** So many at a time. */
  lanes: number;
}

/** What one thing that was looked at came to; a fault when it is not empty. */
export interface Verdict {
  name: string;
  fault: string;
}

const host = 'h1';
const mebibyte = 2 ** 20;
const bootMs = 180_000;
/**
 * After so many cycles what fills once is full: connections, caches, compiled code. From there on everything must stay
 * as it is.
 */
const warmUpOf = (cycles: number): number => Math.max(2, Math.ceil(cycles / 5));
/**
 * What the agent keeps for a while goes by itself: results in its journal until management says that their tasks are over
 * (asked once a minute), connections that nobody uses.
 */
const settleMs = 150_000;
/** Beyond what a collected heap differs by from time to time. A leak of a kilobyte per cycle shows in 2,000. */
const heapSlackBytes = 2 * mebibyte;
/** Pages that the allocator keeps for itself. */
const residentSlackBytes = 40 * mebibyte;

/** A fault with what it is about; empty when there is none. */
const named = (fault: string, what: readonly string[]): string => (fault === '' ? '' : [fault, ...what].join('\n'));

/** Creates instances that boot, stops and deletes them, over and over, and compares what their host's agent then holds. */
export class Soak {
  private readonly instances = new Set<string>();
  private readonly footprint: AgentFootprint;

  private constructor(
    private readonly cloud: TestCloud,
    private readonly plan: SoakPlan,
    private readonly say: (text: string) => void,
    memory: CollectedMemory,
  ) {
    this.footprint = new AgentFootprint(cloud, host, memory, this.instances);
  }

  static async run(plan: SoakPlan, say: (text: string) => void): Promise<Verdict[]> {
    const directory = mkdtempSync('/tmp/vcs-soak-');
    const memory = new CollectedMemory(join(directory, 'memory'));
    const cloud = await TestCloud.start(`soak${plan.vmm.slice(0, 1)}`, {
      hosts: [host],
      // Five cycles a second would have more addresses cool down than their network has.
      managementEnv: { VC_STACK_MODULES__NETWORK__COOLDOWN_SECONDS: '1' },
      computeEnv: {
        ...memory.environment,
        VC_STACK_LOG__LEVEL: 'warn',
        VC_STACK_MODULES__COMPUTE__DRIVERS: `[${plan.vmm}]`,
        VC_STACK_MODULES__COMPUTE__ACCEL: 'tcg',
      },
    });
    let verdicts: Verdict[];
    try {
      await cloud.furnish();
      verdicts = await new Soak(cloud, plan, say, memory).verdicts();
    } catch (error) {
      // What went wrong first is what matters.
      await cloud.close().catch((also: unknown) => say(`and then: ${String(also)}`));
      throw error;
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
    await cloud.close();
    return verdicts;
  }

  private async verdicts(): Promise<Verdict[]> {
    const { cycles, vmm } = this.plan;
    const warmUp = warmUpOf(cycles);
    await this.turn(0, warmUp);
    // Twice: the second time it is known that it has come to rest.
    const before = await this.atRest(await this.footprint.now());
    const files = new Set(this.footprint.files());
    this.say(`after ${warmUp} cycles: ${this.shown(before)}`);
    await this.turn(warmUp, cycles);
    const after = await this.atRest(before);
    const more = this.footprint.files().filter((path) => !files.has(path));
    this.say(`after ${cycles} cycles: ${this.shown(after)}`);
    return [
      { name: `${vmm}: ${cycles} cycles`, fault: '' },
      ...[...counted, 'heapBytes' as const, 'residentBytes' as const].map((what) => ({
        name: `${vmm}: ${what} of the agent are flat`,
        fault: named(this.fault(what, before, after), what === 'files' ? more : []),
      })),
      { name: `${vmm}: instances leave nothing`, fault: this.left().join('\n') },
    ];
  }

  private async turn(from: number, to: number): Promise<void> {
    let next = from;
    const lane = async (): Promise<void> => {
      while (next < to) {
        const cycle = next++;
        await this.cycle(`soak-${cycle}`);
        if ((cycle + 1) % Math.max(10, Math.ceil(this.plan.cycles / 10)) === 0) this.say(`${cycle + 1} cycles`);
      }
    };
    await Promise.all(Array.from({ length: this.plan.lanes }, lane));
  }

  private async cycle(name: string): Promise<void> {
    const { instance, taskId } = await this.cloud.create(name);
    this.instances.add(instance.id);
    await this.cloud.settled(taskId);
    if (this.plan.vmm === 'qemu') await this.booted(instance.id);
    await this.cloud.settled(
      (await this.cloud.api.ok('POST', `/instances/${instance.id}/actions/stop?project=default`)).taskId,
    );
    const { state, lastExit } = await this.cloud.instance(instance.id);
    if (state !== 'stopped' || lastExit?.reason !== 'power-button')
      throw new Error(`${name} is ${state} after its stop, by ${lastExit?.reason ?? 'nothing'}`);
    await this.cloud.settled((await this.cloud.api.ok('DELETE', `/instances/${instance.id}?project=default`)).taskId);
  }

  private booted(id: string): Promise<unknown> {
    const log = join(this.cloud.stateOf(host), 'instances', id, 'console.log');
    return eventually(
      'the guest is ready',
      () => existsSync(log) && readFileSync(log, 'utf8').includes('@@ ready'),
      bootMs,
    );
  }

  /** What it holds once it holds no more than what it is compared with, or what it still holds when the time is over. */
  private async atRest(than: Footprint): Promise<Footprint> {
    const end = Date.now() + settleMs;
    for (;;) {
      const now = await this.footprint.now();
      const more = [...counted, 'heapBytes' as const].some((what) => this.fault(what, than, now) !== '');
      if (!more || Date.now() > end) return now;
      await new Promise((resolve) => setTimeout(resolve, 2_000));
    }
  }

  private fault(what: keyof Footprint, before: Footprint, after: Footprint): string {
    const slack = what === 'heapBytes' ? heapSlackBytes : what === 'residentBytes' ? residentSlackBytes : 0;
    return after[what] > before[what] + slack ? `${before[what]} before, ${after[what]} after` : '';
  }

  /** Whatever carries the id of an instance that there was. */
  private left(): string[] {
    return this.cloud.leftovers().filter((line) => [...this.instances].some((id) => line.includes(id)));
  }

  private shown(footprint: Footprint): string {
    const memory = (bytes: number): string => `${(bytes / mebibyte).toFixed(1)} MiB`;
    return [
      ...counted.map((what) => `${footprint[what]} ${what}`),
      `heap ${memory(footprint.heapBytes)}, resident ${memory(footprint.residentBytes)}`,
    ].join(', ');
  }
}
