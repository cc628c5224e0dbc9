import { injectable } from 'inversify';
import { dedicatedCpus, sharedCpus } from '../../../host/contract/cpu-topology';
import { HostCpus } from '../../../host/contract/host.ports';
import { VerbFailure } from '../../../../core/m2m/verbs/verb-handler';
import type { VmCpus } from '../drivers/vmm-driver';
import { chooseCpus, type GivenOfNode } from './choose-cpus';
import type { InstanceRecord } from './instance-record';

type OfInstance = Pick<InstanceRecord, 'instanceId' | 'spec' | 'cpus' | 'suspended'>;

/**
 * Which CPUs of the host which instance has for itself. Records keep it over restarts of the agent; here is what may not
 * be given twice.
 */
@injectable()
export class InstanceCpus {
  private readonly owners = new Map<number, string>();

  constructor(private readonly host: HostCpus) {}

  /** Takes what a record says. False when another instance has one of them: then other ones are due. */
  claim({ instanceId, cpus }: Pick<InstanceRecord, 'instanceId' | 'cpus'>): boolean {
    return this.take(instanceId, flat(cpus ?? []));
  }

  /** As `claim`, of one whose record cannot be read: it may run on them. */
  take(instanceId: string, all: readonly number[]): boolean {
    if (all.some((cpu) => (this.owners.get(cpu) ?? instanceId) !== instanceId)) return false;
    for (const cpu of all) this.owners.set(cpu, instanceId);
    return true;
  }

  /**
   * Those that the instance is to have for its next machine, at once taken; null for one that shares. One that goes on
   * from a suspension has those that it had. Throws a permanent `VerbFailure` `no_dedicated_cpus`.
   */
  async allocate(record: OfInstance): Promise<GivenOfNode[] | null> {
    const { instanceId, spec, cpus, suspended } = record;
    const topology = await this.host.topology();
    if (suspended && cpus) {
      const there = new Set(dedicatedCpus(topology));
      const gone = flat(cpus).filter((cpu) => !there.has(cpu));
      if (gone.length > 0)
        throw noDedicatedCpus(`CPU ${gone.join(', ')} that it was suspended on is not set aside any more`);
      return cpus;
    }
    this.release(instanceId);
    if (!spec.dedicatedCpus) return null;
    const given = chooseCpus(topology.nodes, spec.dedicatedCpus, (cpu) => this.owners.has(cpu));
    if (!given) {
      const asked = spec.dedicatedCpus.map((one) => `${one.cpus} of NUMA node ${one.node}`).join(', ');
      throw noDedicatedCpus(`it asks for ${asked}, which are not free`);
    }
    this.claim({ instanceId, cpus: given });
    return given;
  }

  /** Its machine has ended. */
  release(instanceId: string): void {
    for (const [cpu, owner] of this.owners) if (owner === instanceId) this.owners.delete(cpu);
  }

  /** Where a machine runs; undefined where nothing is set aside on this host, and nothing is confined. */
  async placeOf({ cpus, spec }: Pick<InstanceRecord, 'cpus' | 'spec'>): Promise<VmCpus | undefined> {
    if (cpus) return ownPlace(cpus, spec.hardware?.numaNodes !== undefined);
    const topology = await this.host.topology();
    return dedicatedCpus(topology).length === 0 ? undefined : { own: null, process: sharedCpus(topology) };
  }
}

const flat = (given: readonly GivenOfNode[]): number[] => given.flatMap(({ cpus }) => cpus);

const ownPlace = (given: readonly GivenOfNode[], guestSeesNodes: boolean): VmCpus => {
  const own = flat(given);
  const nodes = given.map(({ node, cpus, memoryBytes }) => ({ hostNode: node, vcpus: cpus.length, memoryBytes }));
  return {
    own,
    process: [...own].sort((a, b) => a - b),
    ...(guestSeesNodes && { nodes }),
  };
};

const noDedicatedCpus = (why: string): VerbFailure =>
  new VerbFailure(
    'no_dedicated_cpus',
    'Its host has not the CPUs for it that it is to have for itself.',
    true,
    {},
    { detail: why },
  );
