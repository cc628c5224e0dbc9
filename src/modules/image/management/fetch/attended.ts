import { setTimeout as sleep } from 'node:timers/promises';
import type { LeastPace } from './least-pace';

const lookMs = 1_000;
/** A source that goes on sending has its next chunk within this time. */
const partingMs = 500;

/**
 * A source's chunks for as long as its sender keeps pace and nobody stops it: a sender that is silent is left as soon
 * as the signal fires, not with its next chunk. Throws the signal's reason, and `tooSlow()` for a sender that does not
 * keep pace.
 */
export async function* attended(
  source: AsyncIterable<Buffer>,
  signal: AbortSignal,
  pace: LeastPace,
  tooSlow: () => Error,
): AsyncGenerator<Buffer> {
  const chunks = source[Symbol.asyncIterator]();
  let end: ((reason: unknown) => void) | undefined;
  const stopped = (): void => end?.(signal.reason);
  signal.addEventListener('abort', stopped);
  // eslint-disable-next-line no-restricted-globals -- ends with one transfer
  const timer = setInterval(() => {
    if (end && pace.tooSlow(performance.now())) end(tooSlow());
  }, lookMs);
  let asked: Promise<unknown> | undefined;
  try {
    for (;;) {
      signal.throwIfAborted();
      pace.waiting(performance.now());
      const next = await new Promise<IteratorResult<Buffer>>((resolve, reject) => {
        end = reject;
        const answer = chunks.next();
        asked = answer.catch(() => undefined);
        answer.then(resolve, reject);
      });
      end = asked = undefined;
      if (next.done) return;
      pace.arrived(performance.now(), next.value.length);
      if (pace.tooSlow(performance.now())) throw tooSlow();
      yield next.value;
    }
  } finally {
    clearInterval(timer);
    signal.removeEventListener('abort', stopped);
    // A source that is being asked takes a return only after its answer; one that is silent is left with the question.
    const answered = await Promise.race([asked ?? true, sleep(partingMs, 'silent', { ref: false })]);
    if (answered !== 'silent') await chunks.return?.();
  }
}
