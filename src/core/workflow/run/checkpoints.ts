import { performance } from 'node:perf_hooks';
import { injectable } from 'inversify';
import type { Op } from '../../db/rows/op';
import type { AnyStep } from '../definition/definition';
import type { TaskState } from '../definition/task-state';
import { EngineTransactions } from '../storage/engine-transactions';
import { TaskRunRepository } from '../storage/task-run.repository';
import type { Seen, StepWrite } from '../storage/task-row';
import type { RunState, StepEnd } from './run-state';
import { StepObserver } from './step-observer';
import { TaskEnd } from './task-end';
import { TaskEvents } from './task-events';
import { TaskSlots } from './task-slots';
import { Workload } from './workload';

/**
 * Between two calls to a host, steps inside the database take less time than giving its slot back and taking it anew. A
 * call to another host gives it back, and so does all that takes longer.
 */
const mayCallAgain = (next: AnyStep | undefined): boolean => next?.kind === 'remote' || next?.kind === 'tx';

/** What to call once the checkpoint has committed. */
export type Remember = () => void;

/** Where a step's end is stored, forward and backward. */
@injectable()
export class Checkpoints {
  constructor(
    private readonly transactions: EngineTransactions,
    private readonly store: TaskRunRepository,
    private readonly slots: TaskSlots,
    private readonly end: TaskEnd,
    private readonly events: TaskEvents,
    private readonly observer: StepObserver,
    private readonly workload: Workload,
  ) {}

  /** Of steps that follow each other, and with the last one the task's end, in the caller's transaction. */
  async forward(run: RunState, op: Op, writes: readonly StepWrite[]): Promise<Remember> {
    const last = writes[writes.length - 1];
    if (!last) throw new Error('a checkpoint needs a step');
    const cursor = last.seq + 1;
    const next = run.steps[cursor]?.name ?? null;
    const progress = run.progressAt(cursor);
    const remember = (seen: Seen, state: TaskState): void => {
      for (const write of writes) run.wrote(write);
      run.saw(seen);
      Object.assign(run, { cursor, progress, state });
    };
    if (next !== null) {
      if (op.inTransaction && !mayCallAgain(run.steps[cursor])) await this.slots.freeHosts(run, op);
      const seen = await this.store.advance(op, run.hold, writes, { cursor, step: next, progress });
      return () => remember(seen, run.state);
    }
    const seen = await this.store.end(op, run.hold, writes, {
      state: 'succeeded',
      cursor,
      progress,
      undone: false,
      lockKeys: run.locks,
    });
    await this.end.release(run, op, seen, false);
    await this.events.state(run, op, { step: last.name, state: 'succeeded', progress });
    return () => remember(seen, 'succeeded');
  }

  /** Without an effect in the database: one statement, unless the task ends with it or gives up a slot. */
  alone(run: RunState, writes: readonly StepWrite[]): Promise<Remember> {
    const last = (writes[writes.length - 1]?.seq ?? -1) + 1 >= run.steps.length;
    return !last && run.slots.size === 0
      ? this.transactions.alone((op) => this.forward(run, op, writes))
      : this.transactions.run((op) => this.forward(run, op, writes));
  }

  /** What is carried; and calls that were stored as begun, but were not sent on after one that is not done, are not. */
  async cutShort(run: RunState, unsent: readonly StepWrite[]): Promise<void> {
    run.assertHeld();
    const carried = this.carried(run);
    const remember = await this.transactions.run(async (op) => {
      await this.store.notBegun(
        op,
        run.task.id,
        unsent.map(({ seq }) => seq),
      );
      if (carried.length > 0) return this.forward(run, op, carried);
      await this.store.assertHeld(op, run.hold);
      return undefined;
    });
    for (const { seq } of unsent) run.notBegun(seq);
    remember?.();
    if (carried.length > 0) await this.carriedIsStored(run);
  }

  /** The end of an undo, in the caller's transaction. */
  async backward(run: RunState, op: Op, write: StepWrite): Promise<Remember> {
    const cursor = write.seq - 1;
    const seen = await this.store.advance(op, run.hold, [write], { cursor, step: write.name, progress: run.progress });
    return () => {
      run.wrote(write);
      run.saw(seen);
      run.cursor = cursor;
    };
  }

  /** The checkpoint of a step has committed. */
  async passed(run: RunState, step: AnyStep, remember: Remember, since: number): Promise<StepEnd> {
    remember();
    this.observer.took(run, step.name, 'run', since);
    await this.observer.at(run, step.name, 'run', 'after-checkpoint');
    return 'next';
  }

  /**
   * Keeps the checkpoints of calls for the next step's first write. False when that one does not write to the database
   * before anything else happens.
   */
  carry(run: RunState, ended: readonly { write: StepWrite; ended: number }[]): boolean {
    const next = run.steps[(ended[ended.length - 1]?.write.seq ?? -1) + 1];
    if (!next || next.kind === 'wait' || next.kind === 'children' || run.cancelled || this.workload.stopping)
      return false;
    for (const { write } of ended) run.wrote(write);
    if (next.kind === 'remote' && next.spec.when && !next.spec.when(run.stepContext(1))) return false;
    run.carried = [...ended];
    return true;
  }

  /** What is carried, to be written with something else. */
  carried(run: RunState): StepWrite[] {
    const now = performance.now();
    return run.carried.map(({ write, ended }) => ({ ...write, endedMsAgo: now - ended }));
  }

  /** What was carried has committed with something else. */
  async carriedIsStored(run: RunState): Promise<void> {
    const names = run.carried.map(({ write }) => write.name);
    run.carried = [];
    for (const name of names) await this.observer.at(run, name, 'run', 'after-checkpoint');
  }

  /** Stores what is carried by itself: the next step did not come to it. */
  async flush(run: RunState): Promise<void> {
    const writes = this.carried(run);
    if (writes.length === 0) return;
    run.assertHeld();
    (await this.alone(run, writes))();
    await this.carriedIsStored(run);
  }
}
