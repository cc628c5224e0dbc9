import { performance } from 'node:perf_hooks';
import { ForwardPhase } from './forward-phase';
import { LeaseLost } from './lease-lost';
import type { RunServices } from './run-services';
import type { RunState } from './run-state';
import { StepRunner } from './step-runner';
import { UndoPhase } from './undo-phase';

/** Brings one claimed task forward until it is over, asleep, given back or lost. */
export class WorkflowRun {
  private readonly forward: ForwardPhase;
  private readonly backward: UndoPhase;

  constructor(
    private readonly services: RunServices,
    readonly state: RunState,
  ) {
    const runner = new StepRunner(services, state);
    this.forward = new ForwardPhase(services, state, runner);
    this.backward = new UndoPhase(services, state, runner);
  }

  /** Never rejects. */
  async execute(): Promise<void> {
    const { services, state } = this;
    const { task } = state;
    if (task.deaths > 0)
      services.log.warn(
        { taskId: task.id, type: task.type, cursor: task.cursor, deaths: task.deaths },
        'taken over from a process that died with it, or was cut off',
      );
    try {
      if (task.fence !== '1') {
        const [steps, places] = await services.gate.run(() =>
          Promise.all([services.store.steps(task.id), services.store.places(task.id)]),
        );
        state.load(steps, places);
      }
      if (await this.admitted()) await this.loop();
    } catch (error) {
      await this.stopped(error);
    }
  }

  /**
   * True when the type has no limit, or there is a place under it. Otherwise the task waits as if nobody had taken it
   * yet.
   */
  private async admitted(): Promise<boolean> {
    const { services, state } = this;
    const { type, options } = state.definition;
    const scope = `type/${type}@${options.version}`;
    if (
      options.limit === undefined ||
      state.places.has(scope) ||
      state.cancelled ||
      state.state !== 'running' ||
      state.cursor > 0
    )
      return true;
    const limit = { scope, places: options.limit };
    if (await services.gate.run(() => services.store.admit(state.hold, limit))) {
      state.places.add(scope);
      return true;
    }
    const pause = services.settings.slotRecheckMs * (0.5 + 0.5 * Math.random());
    if (await services.gate.run(() => services.store.postpone(state.hold, scope, pause)))
      services.wakeUps.placeFreed(limit);
    return false;
  }

  private async loop(): Promise<void> {
    const { services, state } = this;
    for (;;) {
      if (state.state !== 'running' && state.state !== 'compensating') return this.over();
      if (services.stopping()) return this.giveBack(0);
      const end = state.state === 'running' ? await this.forward.step() : await this.backward.step();
      if (end === 'asleep') return;
    }
  }

  private over(): void {
    const { services, state } = this;
    const { task } = state;
    services.metrics.ended.inc({ type: task.type, state: state.state });
    services.metrics.duration.observe(
      { type: task.type, state: state.state },
      Math.max(0, state.now() - task.startedAt) / 1000,
    );
    services.ended(task.id, task.type, state.state);
  }

  /**
   * The engine's own writes failed, or the lease is gone. If the task is still ours it is given back soon, otherwise
   * nothing is touched.
   */
  private async stopped(error: unknown): Promise<void> {
    const { services, state } = this;
    const { task } = state;
    if (error instanceof LeaseLost) {
      services.metrics.leasesLost.inc();
      services.log.warn(
        { taskId: task.id, type: task.type, fence: task.fence },
        'lease lost: stopped without touching anything',
      );
    } else {
      services.log.error(
        { taskId: task.id, type: task.type, err: error },
        'the run of a task stopped; it will be taken up again',
      );
    }
    if (performance.now() < state.leaseEnd) await this.giveBack(500);
  }

  /** Fenced by owner and fence only: it changes nothing once somebody else has the task. */
  private async giveBack(afterMs: number): Promise<void> {
    const { services, state } = this;
    try {
      await services.gate.run(() => services.store.release(state.hold, afterMs));
      services.dueIn(afterMs);
    } catch (error) {
      services.log.warn(
        { taskId: state.task.id, err: error },
        'the task could not be given back: it is free when its lease ends',
      );
    }
  }
}
