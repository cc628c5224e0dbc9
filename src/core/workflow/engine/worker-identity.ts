import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { injectable } from 'inversify';

/** Who this process is among the workers. */
@injectable()
export class WorkerIdentity {
  readonly owner = `${hostname()}/${process.pid}/${randomUUID().slice(0, 8)}`;
}
