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

/** What a guest did since the report before, as the last word of an event's type. */
const guestDid = (
  guest: ObservedChange['guest'],
): ('panicked' | 'watchdog-fired' | 'reset' | 'looping' | 'companion-lost')[] => {
  if (!guest) return [];
  const { now, before } = guest;
  return [
    ...(now.panickedAt !== null && now.panickedAt !== before?.panickedAt ? (['panicked'] as const) : []),
    ...(now.watchdogAt !== null && now.watchdogAt !== (before?.watchdogAt ?? null)
      ? (['watchdog-fired'] as const)
      : []),
    ...(now.resetAt !== null && now.resetAt !== before?.resetAt ? (['reset'] as const) : []),
    ...(now.lost.length > (before?.lost?.length ?? 0) ? (['companion-lost'] as const) : []),
    ...(now.looping && before?.looping !== true ? (['looping'] as const) : []),
  ];
};

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
      for (const what of guestDid(change.guest ?? null)) await this.publish(op, what, known, {});
    }
  }

  /** Who made, downloaded or deleted what of its memory. */
  async coreDump(
    op: Op,
    what: 'core-dumped' | 'core-dump-downloaded' | 'core-dump-deleted',
    change: InstanceChange,
    of: { coreDumpId: string; userId: string; bytes?: number; format?: string },
  ): Promise<void> {
    await this.publish(op, what, change, of);
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
