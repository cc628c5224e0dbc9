import { injectable } from 'inversify';
import { join } from 'node:path';

/** Where a role keeps its files. Every path derives from ids, never from tenant input. */
@injectable()
export class StatePaths {
  constructor(
    /** E.g. `/var/lib/vc-stack/compute`. Persistent. */
    readonly state: string,
    /** E.g. `/run/vc-stack/<host>`. Short, for Unix sockets (limit 108 bytes); emptied by a reboot. */
    readonly run: string,
  ) {}

  stateDir(...parts: string[]): string {
    return join(this.state, ...parts);
  }

  runDir(...parts: string[]): string {
    return join(this.run, ...parts);
  }
}
