import { injectable } from 'inversify';

export interface ProbeBoundary {
  taskId: string;
  type: string;
  step: string;
  phase: 'run' | 'undo';
  point: 'before-effect' | 'after-effect' | 'after-checkpoint';
}

/** Called at every boundary of every step. Does nothing in production; tests kill or freeze the process here. */
@injectable()
export class WorkflowProbe {
  async at(_boundary: ProbeBoundary): Promise<void> {
    return undefined;
  }
}
