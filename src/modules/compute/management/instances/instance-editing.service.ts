import { injectable } from 'inversify';
import type { z } from 'zod';
import type { Op } from '../../../../core/db/rows/op';
import { conflict } from '../../../../core/errors/problem';
import type { Instance, updateInstance } from '../../contract/compute.api';
import type { InstanceEntity } from './instance.entity';
import { InstanceEvents } from './instance.events';
import { InstancePresenter } from './instance.presenter';
import { InstanceRepository, type Edited } from './instance.repository';
import { InstanceService } from './instance.service';
import type { Caller } from './instance-task';
import { InstanceVerbs, type Of } from './instance-verbs.service';

/** What changes at once on an instance that is there. */
@injectable()
export class InstanceEditing {
  constructor(
    private readonly instances: InstanceRepository,
    private readonly found: InstanceService,
    private readonly verbs: InstanceVerbs,
    private readonly presenter: InstancePresenter,
    private readonly events: InstanceEvents,
  ) {}

  /**
   * Changes what was given, at once and whatever runs; but metadata has to come to the host, which a task does as one
   * of the verbs. The guest keeps its hostname. 409 `name_taken`, `instance_locked`, `task_running`.
   */
  async update(op: Op, of: Of, input: z.output<typeof updateInstance>): Promise<Instance> {
    const instance = await this.found.lockByRef(op, of.caller.access, of.projectId, of.ref);
    const { metadata, ...others } = input;
    const edited = await this.change(op, instance, others);
    if (metadata === undefined || same(metadata, instance.metadata))
      return this.presenter.one(op, edited, of.caller.access.principal);
    return (await this.verbs.tellMetadata(op, of, edited, metadata)).instance;
  }

  /** 409 `instance_locked` when it is already. */
  async lock(op: Op, of: Of, reason: string): Promise<Instance> {
    const instance = await this.found.lockByRef(op, of.caller.access, of.projectId, of.ref);
    const lock = { reason, by: of.caller.access.principal.id, at: new Date().toISOString() };
    return this.shown(op, of.caller, await this.change(op, instance, { lock }));
  }

  /** 409 `instance_not_locked`. */
  async unlock(op: Op, of: Of): Promise<Instance> {
    const instance = await this.found.lockByRef(op, of.caller.access, of.projectId, of.ref, { evenLocked: true });
    if (instance.lock === null) throw conflict('instance_not_locked', 'It is not locked.', { state: instance.state });
    return this.shown(op, of.caller, await this.change(op, instance, { lock: null }));
  }

  private async change(op: Op, instance: InstanceEntity, input: Edited): Promise<InstanceEntity> {
    const changes = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as Edited;
    if (Object.keys(changes).length === 0) return instance;
    await this.instances.edit(op, instance.id, changes);
    const changed = { ...instance, ...changes } as InstanceEntity;
    await this.events.changed(op, 'updated', changed);
    return changed;
  }

  private shown(op: Op, caller: Caller, instance: InstanceEntity): Promise<Instance> {
    return this.presenter.one(op, instance, caller.access.principal);
  }
}

const same = (one: Record<string, string>, other: Record<string, string>): boolean =>
  Object.keys(one).length === Object.keys(other).length && Object.entries(one).every(([k, v]) => other[k] === v);
