import { injectable, multiInject, optional } from 'inversify';
import type { Op } from '../../../../core/db/rows/op';
import { NamedInTasks } from '../../../../core/workflow/storage/named-in-tasks';
import { LeftoverClaims } from '../../contract/host.ports';
import type { Leftover } from '../../contract/leftover';

/** The type of the tasks that remove leftovers: what they name is none of theirs. */
const removalTask = 'host.remove-leftovers';

type Owned = Pick<Leftover, 'ownerId'>;
/** Names of namespaces have no more of an id. */
const tailOf = (id: string): string => id.replaceAll('-', '').slice(-12);

/** What management's rows say of what lies on a host. */
@injectable()
export class ClaimedLeftovers {
  constructor(
    private readonly tasks: NamedInTasks,
    @multiInject(LeftoverClaims) @optional() private readonly claims: LeftoverClaims[] = [],
  ) {}

  /** Ids of all that may lie on the host: of rows, and what tasks are about to make there. */
  async onHost(op: Op, hostId: string): Promise<Set<string>> {
    const ids = new Set(await this.tasks.ids(op, removalTask));
    for (const claims of this.claims) for (const id of await claims.onHost(op, hostId)) ids.add(id);
    return ids;
  }

  /** Those that no row claims now, on whichever host, nor the ids in `before`. */
  async unclaimed<T extends Owned>(
    op: Op,
    hostId: string,
    leftovers: readonly T[],
    before: ReadonlySet<string> = new Set(),
  ): Promise<T[]> {
    const claimed = new Set([...before, ...(await this.onHost(op, hostId))]);
    const asked = leftovers.flatMap(({ ownerId }) => (ownerId !== null && isWhole(ownerId) ? [ownerId] : []));
    if (asked.length > 0)
      for (const claims of this.claims) for (const id of await claims.existing(op, asked)) claimed.add(id);
    const tails = new Set([...claimed].map(tailOf));
    return leftovers.filter(
      ({ ownerId }) => ownerId === null || !(isWhole(ownerId) ? claimed.has(ownerId) : tails.has(tailOf(ownerId))),
    );
  }
}

const isWhole = (id: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id);
