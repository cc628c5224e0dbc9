import type { AnyStep } from '../../definition/definition';
import type { RunState, StepEnd } from '../run-state';

export type StepOf<K extends AnyStep['kind']> = AnyStep & { kind: K };

/** How steps of one kind are done and undone. Both throw what the step's callbacks and calls throw. */
export interface StepKind<K extends AnyStep['kind']> {
  forward(run: RunState, step: StepOf<K>, seq: number): Promise<StepEnd>;
  undo(run: RunState, step: StepOf<K>, seq: number): Promise<StepEnd>;
}
