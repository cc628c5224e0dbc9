import { injectable } from 'inversify';
import { Config } from '../../../core/config/config';
import { parseCpuList } from '../../../core/host/cpus/cpu-list';
import type { CpuTopology } from '../contract/cpu-topology';
import type { HostConfig } from '../contract/host.config';
import { HostCpus } from '../contract/host.ports';
import { readCpuTopology } from './cpu-topology';

/** CPUs go on and off seldom. Milliseconds. */
const life = 60_000;

@injectable()
export class MachineCpus extends HostCpus {
  private known: { topology: Promise<CpuTopology>; until: number } | undefined;

  constructor(private readonly config: Config) {
    super();
  }

  override topology(): Promise<CpuTopology> {
    if (this.known && performance.now() < this.known.until) return this.known.topology;
    const topology = readCpuTopology(this.dedicated());
    this.known = { topology, until: performance.now() + life };
    topology.catch(() => (this.known = undefined));
    return topology;
  }

  dedicated(): number[] {
    return parseCpuList(this.config.section<HostConfig>('host').dedicatedCpus) ?? [];
  }
}
