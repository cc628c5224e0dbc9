import type { Phase, Point, WorkflowShape } from './plan';

/**
 * A place where the worker stops, or loses an answer, once. Without a step: at the first boundary of the task that it
 * comes to.
 */
export interface Trap {
  taskId: string;
  at: { step: string; phase: Phase; point: Point } | null;
  drop: boolean;
}

/** To a worker. */
export interface Order {
  /** Whether it takes tasks. */
  claim?: boolean;
  traps?: Trap[];
  /** Tasks whose last step fails for good. */
  failing?: string[];
  /** Those who stand at a boundary go on. */
  go?: boolean;
  /** Say so once nothing runs here. */
  whenIdle?: boolean;
}

/** From a worker. */
export type Report =
  | { kind: 'started'; workflows: WorkflowShape[] }
  | { kind: 'reached'; taskId: string }
  | { kind: 'idle' };
