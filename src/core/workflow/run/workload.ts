import { injectable } from 'inversify';

/** What the runs of a process need to know of each other. */
@injectable()
export class Workload {
  /** Tasks at work in this process. */
  running = 0;
  /** The engine stops: runs give their task back at the next boundary. */
  stopping = false;
}
