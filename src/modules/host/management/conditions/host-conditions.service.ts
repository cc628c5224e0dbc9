import { injectable } from 'inversify';
import type { Op } from '../../../../core/db/rows/op';
import { Outbox } from '../../../../core/events/outbox';
import { HostConditionTypes } from '../../../../core/m2m/reports/host-condition-types';
import { HostConditionNotes, type HostConditionFact } from '../../contract/host.ports';
import { type ConditionFact, evaluate } from '../hosts/host-state';
import { HostRepository } from '../hosts/host.repository';

/**
 * The one way to change a host's conditions: the state follows in the same transaction, and live clients hear of it
 * when it changed.
 */
@injectable()
export class HostConditions extends HostConditionNotes {
  constructor(
    private readonly hosts: HostRepository,
    private readonly outbox: Outbox,
    private readonly types: HostConditionTypes,
  ) {
    super();
  }

  /**
   * Writes only what differs. `op` must be a transaction. Does nothing for a host that is gone. Throws for a type that no
   * module declares.
   */
  async apply(op: Op, hostId: string, changes: ConditionFact[]): Promise<void> {
    for (const { type } of changes) this.types.assertDeclared(type);
    const host = await this.hosts.lock(op, hostId);
    if (!host) return;
    const facts = await this.facts(op, hostId);
    for (const change of changes) {
      if (same(facts.get(change.type), change)) continue;
      await this.hosts.putCondition(op, hostId, change);
      facts.set(change.type, change);
    }
    const evaluation = evaluate([...facts.values()], this.types.required);
    if (
      evaluation.state === host.state &&
      evaluation.schedulable === host.schedulable &&
      evaluation.reason === host.stateReason
    )
      return;
    await this.hosts.setEvaluation(op, hostId, evaluation);
    if (evaluation.state === host.state) return;
    await this.outbox.publish(op, {
      type: 'host.updated',
      projectId: null,
      subject: { kind: 'host', id: hostId },
      data: {
        id: hostId,
        name: host.name,
        state: evaluation.state,
        schedulable: evaluation.schedulable,
        reason: evaluation.reason,
      },
    });
  }

  /**
   * Waits for the host's row only when there is something to write: it has one owner, so nobody else changes it
   * meanwhile.
   */
  override async note(op: Op, hostId: string, fact: HostConditionFact): Promise<void> {
    if (!same((await this.facts(op, hostId)).get(fact.type), fact)) await this.apply(op, hostId, [fact]);
  }

  private async facts(op: Op, hostId: string): Promise<Map<string, ConditionFact>> {
    return new Map<string, ConditionFact>((await this.hosts.conditions(op, [hostId])).map((c) => [c.type, c]));
  }
}

const same = (before: ConditionFact | undefined, change: ConditionFact): boolean =>
  before?.status === change.status && before.reason === change.reason && before.message === change.message;
