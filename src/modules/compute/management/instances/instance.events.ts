import { injectable } from 'inversify';
import type { Op } from '../../../../core/db/rows/op';
import { Outbox } from '../../../../core/events/outbox';
import type { ObservedChange } from './instance.repository';
import { shownReason } from './state-reason';

export interface InstanceChange {
  id: string;
  projectId: string;
  name: string;
  state: string;
  stateReason: string;
  taskId: string | null;
  /** Of the newest report, where it matters. */
  observedState?: string | null;
}

/** Live events of instances: small, and nothing in them that a viewer may not see. */
@injectable()
export class InstanceEvents {
  constructor(private readonly outbox: Outbox) {}

  changed(op: Op, verb: 'created' | 'updated' | 'deleted', change: InstanceChange): Promise<void> {
    return this.publish(op, verb, change, {});
  }

  /** Events for rows that an observation changed. */
  async observed(op: Op, changes: ObservedChange[]): Promise<void> {
    for (const change of changes) {
      const { id, project_id: projectId, name, state, state_reason: stateReason, task_id: taskId } = change;
      const { observed_state: observedState } = change;
      const known = { id, projectId, name, state, stateReason, taskId, observedState };
      await this.changed(op, 'updated', known);
      // How its machine ended, whoever ended it: the state alone does not say it.
      if (change.ended) await this.publish(op, 'ended', known, { exit: change.ended });
    }
  }

  private publish(op: Op, what: string, change: InstanceChange, more: object): Promise<void> {
    const { id, projectId, name, state, taskId } = change;
    const stateReason = shownReason(state, change.stateReason, change.observedState ?? null);
    return this.outbox.publish(op, {
      type: `instance.${what}`,
      projectId,
      subject: { kind: 'instance', id },
      data: { id, name, state, stateReason, taskId, ...more },
    });
  }
}
