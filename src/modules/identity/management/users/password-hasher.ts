import { hash, verify } from '@node-rs/argon2';
import { injectable } from 'inversify';
import { Problem } from '../../../../core/errors/problem';
import { FairQueue, type Asker } from './fair-queue';

/** OWASP's first choice for argon2id (`algorithm` 2): 19 MiB, two passes, one lane. */
const parameters = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
/** They take a thread, memory and tens of milliseconds each, and anybody may ask for a login. What waits is small. */
const limits = { running: 2, perUser: 16, perAddress: 64, total: 512 };
/** For passwords that an administrator sets, or the process itself. */
const administration: Asker = { address: 'administration', user: 'administration' };

/**
 * Hashes and checks passwords, in Unicode's form NFKC: the same characters are the same password, whatever keyboard
 * they come from.
 */
@injectable()
export class PasswordHasher {
  private readonly queue = new FairQueue(limits);
  private dummy: Promise<string> | undefined;

  /** Throws 503 `busy` when the asker has too much waiting. */
  hash(password: string, asker: Asker = administration): Promise<string> {
    return this.queue.run(asker, () => hash(password.normalize('NFKC'), parameters), busy);
  }

  /**
   * True when the password belongs to the hash. Without a hash (unknown user) it does the same work against a dummy and
   * answers false, so that the time tells nothing about which names exist. Throws 503 `busy` when the asker has too
   * much waiting.
   */
  async verify(stored: string | null, password: string, asker: Asker): Promise<boolean> {
    this.dummy ??= hash('no user has this hash', parameters);
    const against = stored ?? (await this.dummy);
    let matches = await this.queue.run(asker, () => verify(against, password.normalize('NFKC')), busy);
    // Passwords were hashed as they came once.
    if (!matches && password.normalize('NFKC') !== password)
      matches = await this.queue.run(asker, () => verify(against, password), busy);
    return stored !== null && matches;
  }
}

const busy = (): Problem =>
  new Problem({
    status: 503,
    code: 'busy',
    detail: 'Too many logins at once. Try again in a moment.',
    extra: { retryAfterSeconds: 1 },
  });
