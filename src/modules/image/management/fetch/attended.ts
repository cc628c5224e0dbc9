import type { LeastPace } from './least-pace';

const lookMs = 1_000;

/**
 * A source's chunks for as long as its sender keeps pace and nobody stops it: a sender that is silent is left as soon as the signal fires, not
 * with its next chunk. Throws the signal's reason, and `tooSlow()` for a sender that does not keep pace.
 */
export async function* attended(source: AsyncIterable<Buffer>, signal: AbortSignal, pace: LeastPace, tooSlow: () => Error): AsyncGenerator<Buffer> {
  const chunks = source[Symbol.asyncIterator]();
  let end: ((reason: unknown) => void) | undefined;
  const stopped = (): void => end?.(signal.reason);
  signal.addEventListener('abort', stopped);
  const timer = setInterval(() => {
    if (end && pace.tooSlow(performance.now())) end(tooSlow());
  }, lookMs);
  let pending = false;
  try {
    for (;;) {
      signal.throwIfAborted();
      pace.waiting(performance.now());
      pending = true;
      const next = await new Promise<IteratorResult<Buffer>>((resolve, reject) => {
        end = reject;
        chunks.next().then(resolve, reject);
      });
      pending = false;
      end = undefined;
      if (next.done) return;
      pace.arrived(performance.now(), next.value.length);
      if (pace.tooSlow(performance.now())) throw tooSlow();
      yield next.value;
    }
  } finally {
    clearInterval(timer);
    signal.removeEventListener('abort', stopped);
    // A source that is being asked answers a return only after it has answered the question.
    if (!pending) await chunks.return?.();
  }
}
