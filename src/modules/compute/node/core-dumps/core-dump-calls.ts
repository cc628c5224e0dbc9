import { injectable } from 'inversify';
import type { z } from 'zod';
import { VerbFailure, type VerbContext } from '../../../../core/m2m/verbs/verb-handler';
import type { CoreDumpFile } from '../../contract/core-dumps';
import type { instanceCoreDump, ObservedInstance } from '../../contract/instance.verbs';
import { InstanceManager } from '../instances/instance.manager';
import { InstanceRecords } from '../instances/instance-records';
import { observedOf } from '../instances/observed-instance';
import { CoreDumpStore } from './core-dump-store';
import { InstanceCoreDumps } from './instance-core-dumps';

type Asked = z.output<typeof instanceCoreDump.args>;

/** What management asks of core dumps. */
@injectable()
export class CoreDumpCalls {
  /** Of the calls that make one, or wait to, by its id. */
  private readonly making = new Map<string, AbortController>();

  constructor(
    private readonly instances: InstanceManager,
    private readonly records: InstanceRecords,
    private readonly dumps: InstanceCoreDumps,
    private readonly store: CoreDumpStore,
  ) {}

  /** As `instance.core-dump` says. */
  async make(
    { instanceId, ...asked }: Asked,
    { progress, signal }: Pick<VerbContext, 'progress' | 'signal'>,
  ): Promise<{ dump: CoreDumpFile; instance: ObservedInstance }> {
    const controller = new AbortController();
    this.making.set(asked.dumpId, controller);
    try {
      return await this.instances.exclusive(
        instanceId,
        AbortSignal.any([signal, controller.signal]),
        async (aborted) => {
          this.records.refuseLost(instanceId);
          const record = this.records.get(instanceId);
          if (!record) throw new VerbFailure('instance_not_running', 'The instance does not run on this host.', true);
          if (aborted.aborted) throw new VerbFailure('interrupted', 'The core dump was interrupted.', false);
          const dump = await this.dumps.make(record, asked, progress, aborted);
          return { dump, instance: observedOf(record) };
        },
      );
    } finally {
      if (this.making.get(asked.dumpId) === controller) this.making.delete(asked.dumpId);
    }
  }

  /** As `instance.core-dump-absent` says. */
  async remove(instanceId: string, dumpId: string, signal: AbortSignal): Promise<void> {
    this.making.get(dumpId)?.abort();
    await this.instances.exclusive(instanceId, signal, () =>
      this.dumps.remove(this.records.get(instanceId), instanceId, dumpId, signal),
    );
  }

  /** The newest first. Throws `VerbFailure` `instance_absent`. */
  async list(instanceId: string): Promise<CoreDumpFile[]> {
    if (!this.records.has(instanceId))
      throw new VerbFailure('instance_absent', 'This host does not have the instance.', true);
    return this.store.list(instanceId);
  }
}
