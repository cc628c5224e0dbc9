import { injectable } from 'inversify';
import type { Op } from '../../db/rows/op';
import { conflict } from '../../errors/problem';
import type { WorkflowOptions } from '../definition/definition';
import { DefinitionRegistry } from '../definition/definition-registry';
import { lockWords } from '../definition/lock-keys';
import { TaskChildrenRepository } from '../storage/task-children.repository';
import { TaskLockRepository, type LockHolder } from '../storage/task-lock.repository';
import {
  TaskRequestRepository,
  type Inserted,
  type NewTask,
  type OperatedTask,
} from '../storage/task-request.repository';
import { TaskWaiters } from './task-waiters';
import { WakeUps } from './wake-ups';

export type LockRules = Pick<WorkflowOptions<unknown>, 'preempts' | 'whenLocked'>;

/** Tasks that wait for one lock key at most; removals, which others of their kind join, are not turned away. */
const longestQueue = 100;
/** A holder may end between the try and the look at it; each round sees a newer state of the database. */
const rounds = 20;

type Asker = Pick<NewTask, 'id' | 'type' | 'subject'> & { lockKeys: readonly string[] };

/**
 * How tasks come to their locks. All take them in one order. A start takes all of them, or is refused, or waits: in the
 * queue of the first that another has, while it holds those before it. So nobody waits in a circle, and who waits for
 * several comes to each of them in turn.
 */
@injectable()
export class LockQueue {
  constructor(
    private readonly locks: TaskLockRepository,
    private readonly requests: TaskRequestRepository,
    private readonly children: TaskChildrenRepository,
    private readonly registry: DefinitionRegistry,
    private readonly waiters: TaskWaiters,
    private readonly wakeUps: WakeUps,
  ) {}

  /**
   * Inserts a task with its locks, or in the queue of one. Returns the id of the live task that the start joins instead,
   * if any. Throws 409 `task_running`, `task_queue_full`.
   */
  async insert(op: Op, task: NewTask, rules: LockRules): Promise<Inserted | { joined: string }> {
    const keys = task.lockKeys ?? [];
    let taken = 0;
    for (let round = 0; round < rounds; round++) {
      while (taken < keys.length - 1 && (await this.locks.take(op, keys[taken] ?? '', task.id))) taken++;
      const inserted = taken >= keys.length - 1 ? await this.requests.insert(op, task) : undefined;
      if (inserted) return inserted;
      const holder = await this.locks.holder(op, keys[taken] ?? '');
      if (!holder) continue;
      if (rules.preempts && holder.state === 'stuck') {
        await this.endStuck(op, holder, `Task ${task.id} goes on from there.`);
        continue;
      }
      try {
        const joined = await this.queue(op, { ...task, lockKeys: keys }, taken, holder, rules);
        if (joined === undefined) return (await this.requests.insert(op, task, keys[taken])) ?? { begun: null };
        await this.locks.release(op, task.id, keys.slice(0, taken));
        return { joined };
      } catch (error) {
        await this.locks.release(op, task.id, keys.slice(0, taken));
        throw error;
      }
    }
    throw conflict('task_running', `Other tasks keep this ${task.subject.kind} busy. Try again.`);
  }

  /**
   * Takes the locks that a task lacks to which one was handed over. Returns the next for which it must wait, undefined
   * when it has them all. Locks no row but that of a lock's holder: the asker's own comes after it.
   */
  async takeRest(op: Op, task: Asker, rules: LockRules): Promise<string | undefined> {
    const own = new Set(await this.locks.heldBy(op, task.id, task.lockKeys));
    const lacking = task.lockKeys.filter((key) => !own.has(key));
    let taken = 0;
    for (let round = 0; round < rounds; round++) {
      while (taken < lacking.length && (await this.locks.take(op, lacking[taken] ?? '', task.id))) taken++;
      const key = lacking[taken];
      if (key === undefined) return undefined;
      const holder = await this.locks.holder(op, key);
      if (!holder) continue;
      if (rules.preempts && holder.state === 'stuck') {
        await this.endStuck(op, holder, `Task ${task.id} goes on from there.`);
        continue;
      }
      await this.locks.joinQueue(op, holder.id, key);
      if (rules.preempts && this.preemptable(holder)) await this.preempt(op, task, holder);
      return key;
    }
    throw new Error(`locks of task ${task.id} change hands too fast`);
  }

  /** Gives freed locks to those who wait for them. Call in the transaction that freed them. */
  async handOver(op: Op, keys: readonly string[] | null): Promise<void> {
    for (const key of keys ?? []) await this.locks.handOver(op, key);
  }

  /** Of a task that ended before it had all of its locks: one may have been handed over to it until then. */
  async giveUp(op: Op, taskId: string, keys: readonly string[] | null): Promise<void> {
    if (keys === null) return;
    const own = await this.locks.heldBy(op, taskId, keys);
    await this.locks.release(op, taskId, own);
    await this.handOver(op, own);
  }

  /** Whether a task that preempts others waits for one of the keys. */
  async awaitedByRemoval(op: Op, keys: readonly string[] | null): Promise<boolean> {
    const waiting = keys === null ? [] : await this.locks.waiting(op, keys);
    return waiting.some(({ type, version }) => this.registry.get(type, version)?.options.preempts === true);
  }

  /** Ends a stuck task as failed, not undone, and hands on its locks. */
  async endStuck(op: Op, task: Pick<OperatedTask, 'id' | 'lockKeys'>, hint: string): Promise<void> {
    const ended = await this.requests.endStuck(op, task.id, { hint });
    if (ended?.parentId) await this.children.over(op, ended.parentId, true);
    await this.giveUp(op, task.id, task.lockKeys);
    op.afterCommit(() => this.waiters.settled(task.id, 'failed'));
    this.wakeUps.workers(op, true);
  }

  /** Makes ready to wait for the key at `taken`. Returns the task to join instead, if any. */
  private async queue(
    op: Op,
    task: Asker,
    taken: number,
    holder: LockHolder,
    rules: LockRules,
  ): Promise<string | undefined> {
    const key = task.lockKeys[taken] ?? '';
    const later = await this.laterHolders(op, task.lockKeys.slice(taken + 1));
    if (rules.preempts) {
      const joined = sameWork(task, holder) ? holder.id : await this.locks.waiterOf(op, key, task.type, task.lockKeys);
      if (joined !== undefined) return joined;
    }
    const inTheWay = [{ ...holder, key }, ...later].find((one) => !rules.preempts || !this.preemptable(one));
    if (inTheWay && rules.whenLocked !== 'wait') throw busy(task, inTheWay);
    const waiting = await this.locks.joinQueue(op, holder.id, key);
    if (!rules.preempts && waiting >= longestQueue) throw queueIsFull(task, key, waiting);
    if (!rules.preempts) return undefined;
    if (this.preemptable(holder)) await this.preempt(op, task, holder);
    // Of the rest the task makes sure when it comes to their locks.
    const others = later.filter((one) => this.preemptable(one)).map(({ id }) => id);
    if (others.length > 0) await this.requests.preemptFree(op, others, `task:${task.id}`, reasonOf(task));
    return undefined;
  }

  private laterHolders(op: Op, keys: readonly string[]): Promise<(LockHolder & { key: string })[]> {
    return keys.length === 0 ? Promise.resolve([]) : this.locks.holders(op, keys);
  }

  /** What only goes forward does not stop for another; what this process does not know is asked to. */
  private preemptable({ type, version }: LockHolder): boolean {
    return this.registry.get(type, version)?.options.goesForward === undefined;
  }

  private preempt(op: Op, task: Asker, holder: LockHolder): Promise<void> {
    this.wakeUps.workers(op, true);
    return this.requests.preempt(op, holder.id, `task:${task.id}`, reasonOf(task));
  }
}

const reasonOf = ({ type, subject }: Asker): string => `Cancelled: ${type} was asked for the same ${subject.kind}.`;

const sameWork = (task: Asker, holder: LockHolder): boolean =>
  task.type === holder.type &&
  task.lockKeys.length === holder.lockKeys.length &&
  task.lockKeys.every((key, i) => key === holder.lockKeys[i]);

const busy = (task: Asker, holder: LockHolder & { key: string }): Error =>
  conflict(
    'task_running',
    `Task ${holder.id} (${holder.type}) is still at work on ${lockWords(holder.key, task.subject)}. Wait for it, or cancel it.`,
    { task: { id: holder.id, type: holder.type }, lock: holder.key },
  );

const queueIsFull = (task: Asker, key: string, waiting: number): Error =>
  conflict(
    'task_queue_full',
    `${waiting} tasks wait for ${lockWords(key, task.subject)} already. Try again when some of them are over.`,
    { waiting },
  );
