import { injectable } from 'inversify';
import type { Op } from '../../db/rows/op';
import { DefinitionRegistry } from '../definition/definition-registry';
import { TaskRequestRepository } from '../storage/task-request.repository';
import { LockQueue } from './lock-queue';
import { TaskQueue } from './task-queue';
import { WakeUps } from './wake-ups';

export interface StepOutline {
  name: string;
  title: string;
  /** It leaves something that a failure removes again. */
  undo: boolean;
}

/** What operators do to stuck tasks, and what is known of a task's steps before they begin. */
@injectable()
export class TaskOperations {
  constructor(
    private readonly queue: TaskQueue,
    private readonly locks: LockQueue,
    private readonly requests: TaskRequestRepository,
    private readonly registry: DefinitionRegistry,
    private readonly wakeUps: WakeUps,
  ) {}

  /** A stuck task goes on undoing, with its whole time again. 409 `task_not_stuck` otherwise. */
  async retry(op: Op, taskId: string): Promise<void> {
    const task = await this.queue.stuckTask(op, taskId);
    await this.requests.resume(op, taskId, task.cursor);
    this.wakeUps.workers(op, true);
  }

  /** The undo that a stuck task is at counts as done; the others go on. Returns the step's name. */
  async skipStep(op: Op, taskId: string): Promise<string | null> {
    const task = await this.queue.stuckTask(op, taskId);
    const step = await this.requests.firstToUndo(op, taskId);
    if (step) await this.requests.skipUndo(op, taskId, step.seq, step.name);
    await this.requests.resume(op, taskId, step ? step.seq - 1 : task.cursor);
    this.wakeUps.workers(op, true);
    return step?.name ?? null;
  }

  /** A stuck task ends as failed, not undone; what it left behind is the operator's business. Frees its locks. */
  async abandon(op: Op, taskId: string): Promise<void> {
    const task = await this.queue.stuckTask(op, taskId);
    await this.locks.endStuck(op, task, 'It was abandoned by an operator; what it had made may still be there.');
  }

  /** The steps of a type and version in order; empty when this process does not know it. */
  outline(type: string, version: number): StepOutline[] {
    return (this.registry.get(type, version)?.steps ?? []).map((step) => ({
      name: step.name,
      title: step.spec.title ?? step.name,
      undo: step.kind !== 'wait' && step.spec.undo !== undefined,
    }));
  }

  /** Why a task of the type and version can't be cancelled once it has begun; undefined when it can. */
  goesForward(type: string, version: number): string | undefined {
    return this.registry.get(type, version)?.options.goesForward;
  }
}
