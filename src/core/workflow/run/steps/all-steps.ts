import { injectable } from 'inversify';
import type { AnyStep } from '../../definition/definition';
import type { RunState, StepEnd } from '../run-state';
import { ChildrenSteps } from './children-steps';
import { LocalSteps } from './local-steps';
import { RemoteSteps } from './remote-steps';
import { TxSteps } from './tx-steps';
import { WaitSteps } from './wait-steps';

/** Every kind of step. */
@injectable()
export class AllSteps {
  constructor(
    private readonly tx: TxSteps,
    private readonly remote: RemoteSteps,
    private readonly local: LocalSteps,
    private readonly wait: WaitSteps,
    private readonly children: ChildrenSteps,
  ) {}

  forward(run: RunState, step: AnyStep, seq: number): Promise<StepEnd> {
    switch (step.kind) {
      case 'tx':
        return this.tx.forward(run, step, seq);
      case 'remote':
        return this.remote.forward(run, step, seq);
      case 'local':
        return this.local.forward(run, step, seq);
      case 'wait':
        return this.wait.forward(run, step, seq);
      case 'children':
        return this.children.forward(run, step, seq);
    }
  }

  undo(run: RunState, step: AnyStep, seq: number): Promise<StepEnd> {
    switch (step.kind) {
      case 'tx':
        return this.tx.undo(run, step, seq);
      case 'remote':
        return this.remote.undo(run, step, seq);
      case 'local':
        return this.local.undo(run, step, seq);
      case 'wait':
        return this.wait.undo();
      case 'children':
        return this.children.undo(run, step, seq);
    }
  }
}
