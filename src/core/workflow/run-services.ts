import type { Logger } from 'pino';
import type { Database } from '../db/database';
import type { Op } from '../db/op';
import type { Outbox } from '../events/outbox';
import type { NodeCaller } from '../m2m/node-caller';
import type { Gate } from './gate';
import type { TaskChildrenRepository } from './task-children.repository';
import type { TaskQueue } from './task-queue';
import type { TaskRequestRepository } from './task-request.repository';
import type { TaskRunRepository } from './task-run.repository';
import type { WakeUps } from './wake-ups';
import type { WorkflowMetrics } from './workflow-metrics';
import type { WorkflowProbe } from './workflow-probe';
import type { WorkflowSettings } from './workflow-settings';
import type { TaskState } from './workflows';

/** What the engine lends to the runs of its tasks. */
export interface RunServices {
  owner: string;
  database: Database;
  gate: Gate;
  store: TaskRunRepository;
  requests: TaskRequestRepository;
  children: TaskChildrenRepository;
  queue: TaskQueue;
  wakeUps: WakeUps;
  nodes: NodeCaller;
  outbox: Outbox;
  log: Logger;
  metrics: WorkflowMetrics;
  probe: WorkflowProbe;
  settings: WorkflowSettings;
  /** Tasks at work in this process. */
  running: () => number;
  /** True while the engine stops: runs give their task back at the next boundary. */
  stopping: () => boolean;
  /** A task reached a final state or is stuck (after the commit). */
  ended: (taskId: string, type: string, state: TaskState) => void;
  /** Some task is due in so many milliseconds. */
  dueIn: (ms: number) => void;
}

/** A transaction of the engine; at most as many at a time as its gate lets in. */
export const inTransaction = <T>(services: RunServices, fn: (op: Op) => Promise<T>): Promise<T> =>
  services.gate.run(() => services.database.tx(fn));
