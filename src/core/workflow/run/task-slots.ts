import { injectable } from 'inversify';
import type { Op } from '../../db/rows/op';
import { WakeUps } from '../request/wake-ups';
import { EngineTransactions } from '../storage/engine-transactions';
import type { Limit } from '../storage/no-place';
import { TaskRunRepository } from '../storage/task-run.repository';
import { WorkflowSettings } from '../workflow-settings';
import type { RunState } from './run-state';

const isHost = (scope: string): boolean => scope.startsWith('host/');

/**
 * Those of a task's type. The project's comes first: who waits for a place of the type keeps that of its project, so a
 * project has no more in the queue for the type's places than it may have under way.
 */
const limitsOf = ({ definition, task }: RunState): Limit[] => {
  const { type, options } = definition;
  const scope = `type/${type}@${options.version}`;
  const { limit, limitPerProject } = options;
  return [
    ...(limitPerProject === undefined
      ? []
      : [{ scope: `${scope}/project/${task.projectId ?? 'system'}`, places: limitPerProject }]),
    ...(limit === undefined ? [] : [{ scope, places: limit }]),
  ];
};

/** The places under limits that tasks take and give back. */
@injectable()
export class TaskSlots {
  constructor(
    private readonly store: TaskRunRepository,
    private readonly wakeUps: WakeUps,
    private readonly transactions: EngineTransactions,
    private readonly settings: WorkflowSettings,
  ) {}

  /** The limit under which calls to a host are; undefined when the task has its place already. */
  hostLimit(run: RunState, hostId: string): Limit | undefined {
    const scope = `host/${hostId}`;
    return run.places.has(scope) ? undefined : { scope, places: this.settings.hostConcurrency };
  }

  /**
   * True when the type has no limit, or there is a place under it. Otherwise the task waits as if nobody had taken it
   * yet.
   */
  async admitted(run: RunState): Promise<boolean> {
    if (run.cancelled || run.state !== 'running' || run.cursor > 0) return true;
    for (const limit of limitsOf(run)) {
      if (run.places.has(limit.scope)) continue;
      if (await this.transactions.alone(() => this.store.admit(run.hold, limit))) {
        run.places.add(limit.scope);
        continue;
      }
      const pause = this.settings.slotRecheckMs * (0.5 + 0.5 * Math.random());
      if (await this.transactions.alone(() => this.store.postpone(run.hold, limit.scope, pause)))
        this.wakeUps.placeFreed(limit);
      return false;
    }
    return true;
  }

  /** With the commit: the places that this task holds are free for others, but for those that it `keeps`. */
  async free(run: RunState, op: Op, keeps: (scope: string) => boolean = () => false): Promise<void> {
    const scopes = [...run.places].filter((scope) => !keeps(scope));
    if (scopes.length === 0) return;
    await this.store.free(op, run.task.id, scopes);
    op.afterCommit(() => {
      for (const scope of scopes) {
        run.places.delete(scope);
        this.wakeUps.placeFreed({ scope, places: this.placesOf(run, scope) });
      }
    });
  }

  /** After a call is over: its host's place is another's. With `but`, the places of all other hosts. */
  freeHosts(run: RunState, op: Op, but?: string): Promise<void> {
    return this.free(run, op, (scope) => !isHost(scope) || scope === but);
  }

  private placesOf(run: RunState, scope: string): number {
    return isHost(scope)
      ? this.settings.hostConcurrency
      : (limitsOf(run).find((limit) => limit.scope === scope)?.places ?? 1);
  }
}
