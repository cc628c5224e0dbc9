import type { HostState } from '../../contract/host.api';
import type { HostConditionFact } from '../../contract/host.ports';

export type ConditionStatus = HostConditionFact['status'];

export type ConditionFact = HostConditionFact;

export interface HostEvaluation {
  state: HostState;
  schedulable: boolean;
  /** Why it is not ready; empty when it is. */
  reason: string;
}

/**
 * The one place that turns conditions into a state. From strongest to weakest: not enrolled, silent (nobody knows what
 * a silent host does, not even in maintenance), maintenance, broken, untested, ready. Only `ready` takes instances.
 * @param required conditions that modules declare to be required; others than these and the ones named here only warn
 */
export const evaluate = (conditions: readonly ConditionFact[], required: readonly string[]): HostEvaluation => {
  const of = (type: string): ConditionFact | undefined => conditions.find((c) => c.type === type);
  const not = (state: HostState, reason: string): HostEvaluation => ({ state, schedulable: false, reason });
  if (of('Enrolled')?.status !== 'true') return not('enrolling', 'it has not joined yet');
  const heartbeat = of('Heartbeat');
  if (!heartbeat) return not('enrolling', 'it has joined and was not heard of yet');
  if (heartbeat.status !== 'true') return not('unknown', heartbeat.message);
  const maintenance = of('Maintenance');
  if (maintenance?.status === 'true') return not('maintenance', maintenance.message || 'it is in maintenance');
  const broken = required.map(of).find((c) => c?.status === 'false');
  if (broken) return not('degraded', broken.message);
  const untested = required.find((type) => of(type)?.status !== 'true');
  if (untested) return not('testing', of(untested)?.message ?? 'it is being tested');
  return { state: 'ready', schedulable: true, reason: '' };
};
