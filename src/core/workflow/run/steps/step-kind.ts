import type { AnyStep } from '../../definition/definition';
import type { RunState, StepEnd } from '../run-state';
import type { Duration } from '../../definition/definition';
import { PermanentError } from '../../definition/workflow-error';

export type StepOf<K extends AnyStep['kind']> = AnyStep & { kind: K };

/** How steps of one kind are done and undone. Both throw what the step's callbacks and calls throw. */
export interface StepKind<K extends AnyStep['kind']> {
  forward(run: RunState, step: StepOf<K>, seq: number): Promise<StepEnd>;
  undo(run: RunState, step: StepOf<K>, seq: number): Promise<StepEnd>;
}

/** A step's own time, or its task's, is over. */
export const stepTimedOut = (timeout: Duration | undefined): PermanentError =>
  new PermanentError(
    'step_timeout',
    timeout ? `The step did not end within ${timeout}.` : 'The step did not end within the time of its task.',
  );
