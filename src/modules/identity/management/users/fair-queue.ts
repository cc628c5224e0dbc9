/** Who asks: work waits in line by address, and within an address by user. */
export interface Asker {
  /** Network address, or another name for where it comes from. */
  address: string;
  user: string;
}

export interface FairQueueLimits {
  /** Pieces of work at the same time. */
  running: number;
  /** Waiting at most, of one user from one address, from one address, and in all. */
  perUser: number;
  perAddress: number;
  total: number;
}

interface Line {
  waiting: number;
  /** By user; the first one is next. A user that was served goes to the end. */
  users: Map<string, (() => void)[]>;
}

/**
 * Runs a bounded number of pieces of work at the same time, and the others in turn: one of each address, and of an
 * address one of each user. However much one of them asks for, the others wait for one piece of its work at most.
 */
export class FairQueue {
  private running = 0;
  private waiting = 0;
  /** By address; the first one is next. */
  private readonly addresses = new Map<string, Line>();

  constructor(private readonly limits: FairQueueLimits) {}

  /** @param refused makes the error for an asker, or an address, that has too much waiting, or when all have */
  async run<T>(asker: Asker, work: () => Promise<T>, refused: () => Error): Promise<T> {
    if (this.running < this.limits.running) this.running += 1;
    else await this.place(asker, refused);
    try {
      return await work();
    } finally {
      this.next();
    }
  }

  private place({ address, user }: Asker, refused: () => Error): Promise<void> {
    const line: Line = this.addresses.get(address) ?? { waiting: 0, users: new Map() };
    const own = line.users.get(user) ?? [];
    if (
      own.length >= this.limits.perUser ||
      line.waiting >= this.limits.perAddress ||
      this.waiting >= this.limits.total
    )
      throw refused();
    this.addresses.set(address, line);
    line.users.set(user, own);
    line.waiting += 1;
    this.waiting += 1;
    return new Promise((resolve) => own.push(resolve));
  }

  /**
   * Hands the place of what has ended to the first user of the first address, and sends both to the end of their lines.
   */
  private next(): void {
    const [address, line] = first(this.addresses);
    const [user, own] = line ? first(line.users) : [];
    const resume = own?.shift();
    if (address === undefined || !line || user === undefined || !own || !resume) {
      this.running -= 1;
      return;
    }
    this.waiting -= 1;
    line.waiting -= 1;
    line.users.delete(user);
    if (own.length > 0) line.users.set(user, own);
    this.addresses.delete(address);
    if (line.waiting > 0) this.addresses.set(address, line);
    resume();
  }
}

const first = <K, V>(map: Map<K, V>): [K, V] | [] => {
  for (const entry of map) return entry;
  return [];
};
