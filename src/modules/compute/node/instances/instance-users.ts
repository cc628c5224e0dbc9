import { createHash } from 'node:crypto';
import { injectable } from 'inversify';
import { Config } from '../../../../core/config/config';
import { sandboxUsers } from '../../../../core/host/sandbox/sandbox-users';
import { VerbFailure } from '../../../../core/m2m/verbs/verb-handler';

/**
 * Which user id belongs to which instance of this host. The records of the instances keep it over restarts; here is
 * what may not be given twice. No account stands behind an id.
 */
@injectable()
export class InstanceUsers {
  private readonly owners = new Map<number, string>();
  private readonly first: number;
  private readonly count: number;

  constructor(config: Config) {
    const { first, last } = sandboxUsers(config.core.sandbox).instances;
    this.first = first;
    this.count = last - first + 1;
  }

  /** Takes what a record says. False when another instance has that id: then a new one is due. */
  claim(user: number, instanceId: string): boolean {
    const owner = this.owners.get(user);
    if (owner !== undefined && owner !== instanceId) return false;
    this.owners.set(user, instanceId);
    return true;
  }

  /**
   * A free id for the instance, at once taken. Where the search begins follows from the instance, so an id that was
   * just freed is not the next one given out. Throws a permanent `VerbFailure` `no_free_user`.
   */
  allocate(instanceId: string): number {
    const start = createHash('sha256').update(instanceId).digest().readUInt32BE(0);
    for (let n = 0; n < this.count; n += 1) {
      const user = this.first + ((start + n) % this.count);
      if (this.owners.has(user)) continue;
      this.owners.set(user, instanceId);
      return user;
    }
    throw new VerbFailure(
      'no_free_user',
      `All ${this.count} user ids for instances are in use on this host (sandbox.users).`,
      true,
    );
  }

  /** Only once no process of the instance is left. */
  release(instanceId: string): void {
    for (const [user, owner] of this.owners) if (owner === instanceId) this.owners.delete(user);
  }
}
