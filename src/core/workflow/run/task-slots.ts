import { injectable } from 'inversify';
import type { Op } from '../../db/rows/op';
import { WakeUps } from '../request/wake-ups';
import { EngineTransactions } from '../storage/engine-transactions';
import { TaskRunRepository } from '../storage/task-run.repository';
import { WorkflowSettings } from '../workflow-settings';
import type { RunState } from './run-state';
import type { Limit } from '../storage/interruptions';

const isHost = (scope: string): boolean => scope.startsWith('host/');

/**
 * Those of a task's type. The project's comes first: who waits for a slot of the type keeps that of its project, so a
 * project has no more in the queue for the type's slots than it may have under way.
 */
const limitsOf = ({ definition, task }: RunState): Limit[] => {
  const { type, options } = definition;
  const scope = `type/${type}@${options.version}`;
  const { limit, limitPerProject } = options;
  return [
    ...(limitPerProject === undefined
      ? []
      : [{ scope: `${scope}/project/${task.projectId ?? 'system'}`, slots: limitPerProject }]),
    ...(limit === undefined ? [] : [{ scope, slots: limit }]),
  ];
};

/** The slots under limits that tasks take and give back. */
@injectable()
export class TaskSlots {
  constructor(
    private readonly store: TaskRunRepository,
    private readonly wakeUps: WakeUps,
    private readonly transactions: EngineTransactions,
    private readonly settings: WorkflowSettings,
  ) {}

  /** The limit under which calls to a host are; undefined when the task has its slot already. */
  hostLimit(run: RunState, hostId: string): Limit | undefined {
    const scope = `host/${hostId}`;
    return run.slots.has(scope) ? undefined : { scope, slots: this.settings.hostConcurrency };
  }

  /**
   * True when the type has no limit, or there is a slot under it. Otherwise the task waits as if nobody had taken it
   * yet.
   */
  async admitted(run: RunState): Promise<boolean> {
    if (run.cancelled || run.state !== 'running' || run.cursor > 0) return true;
    for (const limit of limitsOf(run)) {
      if (run.slots.has(limit.scope)) continue;
      if (await this.transactions.alone(() => this.store.admit(run.hold, limit))) {
        run.slots.add(limit.scope);
        continue;
      }
      const pause = this.settings.slotRecheckMs * (0.5 + 0.5 * Math.random());
      if (await this.transactions.alone(() => this.store.postpone(run.hold, limit.scope, pause)))
        this.wakeUps.slotFreed(limit);
      return false;
    }
    return true;
  }

  /** With the commit: the slots that this task holds are free for others, but for those that it `keeps`. */
  async free(run: RunState, op: Op, keeps: (scope: string) => boolean = () => false): Promise<void> {
    const scopes = [...run.slots].filter((scope) => !keeps(scope));
    if (scopes.length === 0) return;
    await this.store.free(op, run.task.id, scopes);
    op.afterCommit(() => {
      for (const scope of scopes) {
        run.slots.delete(scope);
        this.wakeUps.slotFreed({ scope, slots: this.slotsOf(run, scope) });
      }
    });
  }

  /** After a call is over: its host's slot is another's. With `but`, the slots of all other hosts. */
  freeHosts(run: RunState, op: Op, but?: string): Promise<void> {
    return this.free(run, op, (scope) => !isHost(scope) || scope === but);
  }

  private slotsOf(run: RunState, scope: string): number {
    return isHost(scope)
      ? this.settings.hostConcurrency
      : (limitsOf(run).find((limit) => limit.scope === scope)?.slots ?? 1);
  }
}
