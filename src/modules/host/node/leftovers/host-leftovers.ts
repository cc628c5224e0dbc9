import { injectable, multiInject, optional } from 'inversify';
import type { Logger } from 'pino';
import { VerbFailure } from '../../../../core/m2m/verbs/verb-handler';
import { Logging } from '../../../../core/telemetry/logging';
import { type FoundLeftover, LeftoverSource } from '../../contract/host.ports';
import { type ConfirmedLeftover, type LeftoverListing, leftoversLimit } from '../../contract/leftover';

/** Milliseconds for one source. */
const lookDeadline = 15_000;

const keyOf = ({ kind, name }: Pick<ConfirmedLeftover, 'kind' | 'name'>): string => `${kind} ${name}`;
const same = (a: ConfirmedLeftover, b: ConfirmedLeftover): boolean => keyOf(a) === keyOf(b) && a.mark === b.mark;

/** What lies on this host and belongs to nothing, as the modules find it; removed only when told, one call at a time. */
@injectable()
export class HostLeftovers {
  private readonly log: Logger;
  private removing: Promise<unknown> = Promise.resolve();

  constructor(
    logging: Logging,
    @multiInject(LeftoverSource) @optional() private readonly sources: LeftoverSource[] = [],
  ) {
    this.log = logging.for('leftovers');
  }

  /** @param only of these alone */
  async list(only?: readonly Pick<ConfirmedLeftover, 'kind' | 'name'>[]): Promise<LeftoverListing> {
    const scannedAt = new Date().toISOString();
    const { found, failed } = await this.look();
    const wanted = only && new Set(only.map(keyOf));
    const listed = wanted ? found.filter((one) => wanted.has(keyOf(one))) : found;
    return {
      scannedAt,
      leftovers: listed.slice(0, leftoversLimit).map(({ clear: _, ...rest }) => rest),
      truncated: listed.length > leftoversLimit,
      failed,
    };
  }

  /**
   * Removes these and sees that they are gone. Throws `VerbFailure`: `leftover_changed` before anything is touched, what
   * a source refuses, `leftover_stays` (transient).
   */
  remove(confirmed: readonly ConfirmedLeftover[]): Promise<{ removed: number }> {
    const turn = this.removing.then(() => this.removeNow(confirmed));
    this.removing = turn.catch(() => undefined);
    return turn;
  }

  private async removeNow(confirmed: readonly ConfirmedLeftover[]): Promise<{ removed: number }> {
    const before = await this.look();
    const there = before.found.filter((one) => confirmed.some((c) => keyOf(c) === keyOf(one)));
    const other = there.find((one) => !confirmed.some((c) => same(c, one)));
    if (other)
      throw new VerbFailure(
        'leftover_changed',
        `Something else is there by now as ${other.kind} ${other.name}: list them again.`,
        true,
      );
    // What is not found is gone, unless it is where nobody could look.
    if (there.length < confirmed.length) refuseUnseen(before.failed);
    for (const one of there) {
      this.log.warn({ kind: one.kind, leftover: one.name }, 'removing what belongs to nothing');
      await one.clear();
    }
    const after = await this.look();
    const stays = after.found.find((one) => confirmed.some((c) => same(c, one)));
    if (stays) throw new VerbFailure('leftover_stays', `The ${stays.kind} ${stays.name} is still there.`, false);
    refuseUnseen(after.failed.filter((name) => !before.failed.includes(name)));
    return { removed: there.length };
  }

  private async look(): Promise<{ found: FoundLeftover[]; failed: string[] }> {
    const failed: string[] = [];
    const looks = await Promise.all(
      [...this.sources].reverse().map(async (source) => {
        const signal = AbortSignal.timeout(lookDeadline);
        try {
          return await Promise.race([source.find(signal), late(signal)]);
        } catch (error) {
          this.log.warn({ source: source.name, err: error }, 'a part of the host could not be looked at');
          failed.push(source.name);
          return [];
        }
      }),
    );
    return { found: looks.flat(), failed };
  }
}

const refuseUnseen = (failed: readonly string[]): void => {
  if (failed.length === 0) return;
  throw new VerbFailure('leftovers_unseen', `The host could not look at its ${failed.join(', ')}.`, false);
};

const late = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('it took too long')), { once: true });
  });
