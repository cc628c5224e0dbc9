import { hash, verify } from '@node-rs/argon2';
import { injectable } from 'inversify';
import { Problem } from '../../../core/errors/problem';

/** OWASP's first choice for argon2id (`algorithm` 2): 19 MiB, two passes, one lane. */
const parameters = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
/** Hashes at once and waiting: they take a thread, memory and tens of milliseconds each, and anybody may ask for a login. */
const maxRunning = 2;
const maxWaiting = 32;

@injectable()
export class PasswordHasher {
  private running = 0;
  private readonly waiting: (() => void)[] = [];
  private dummy: Promise<string> | undefined;

  hash(password: string): Promise<string> {
    return this.limited(() => hash(password, parameters));
  }

  /**
   * True when the password belongs to the hash. Without a hash (unknown user) it does the same work against a dummy and answers
   * false, so that the time tells nothing about which names exist.
   */
  async verify(stored: string | null, password: string): Promise<boolean> {
    this.dummy ??= hash('no user has this hash', parameters);
    const against = stored ?? (await this.dummy);
    const matches = await this.limited(() => verify(against, password));
    return stored !== null && matches;
  }

  private async limited<T>(work: () => Promise<T>): Promise<T> {
    if (this.running >= maxRunning) {
      if (this.waiting.length >= maxWaiting) throw new Problem({ status: 503, code: 'busy', detail: 'Too many logins at once. Try again in a moment.' });
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    } else {
      this.running += 1;
    }
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.running -= 1;
    }
  }
}
