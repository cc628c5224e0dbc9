import { statSync, watch } from 'node:fs';
import { open } from 'node:fs/promises';
import type { GuestEvent } from '../guest-event';
import { parseEvents, type ChEvent } from './ch-events';

/** Bytes that are read at a time, and the longest that may lie there unfinished; an event has some hundred. */
const portion = 64 * 1024;
const blankLine = '\n\n';

/**
 * What a VMM's event says of its guest. `crash_loaded` is a guest that dumps its memory and starts anew by itself. That
 * it `rebooted` says nothing of who wanted it.
 */
const kindOf = ({ source, event, properties }: ChEvent): GuestEvent['kind'] | null =>
  source === 'guest' && event === 'panic' && properties?.['event'] !== 'crash_loaded'
    ? 'panic'
    : source === 'vm' && event === 'rebooted'
      ? 'reset'
      : null;

/** What happened, and at which byte of the file that is told. */
interface Found {
  kind: GuestEvent['kind'];
  at: number;
}

/**
 * Tells what a guest does, as its VMM writes it to its file of events, until the signal. Of what is there already only a
 * panic is told that no reset followed: the resets of an agent's absence are not counted, for some were asked for.
 * A watchdog that fired in the agent's absence is told too: its VMM's log has it.
 */
export const followGuest = (
  path: string,
  of: {
    /** Of a reset whose event begins at that byte of the file: whether it was asked for by us. */
    asked: (at: number) => boolean;
    /** When the watchdog fired, as far as it is known. */
    fired: () => Promise<number[]>;
  },
  tell: (event: GuestEvent) => void,
  signal: AbortSignal,
): void => {
  // By what is there now it is known what was before: what comes while the file is being opened is told.
  const before = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  let offset = 0;
  let rest = Buffer.alloc(0);
  const more = async (): Promise<Found[]> => {
    const file = await open(path, 'r');
    try {
      const found: Found[] = [];
      for (const buffer = Buffer.alloc(portion); ; ) {
        const { bytesRead } = await file.read(buffer, 0, portion, offset);
        let at = offset - rest.length;
        offset += bytesRead;
        const bytes = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
        // A blank line stands behind each that is written whole.
        const last = bytes.lastIndexOf(blankLine);
        const end = last < 0 ? 0 : last + blankLine.length;
        for (const part of bytes.toString('utf8', 0, end).split(blankLine)) {
          for (const event of parseEvents(part)) {
            const kind = kindOf(event);
            if (kind !== null) found.push({ kind, at });
          }
          at += Buffer.byteLength(part) + blankLine.length;
        }
        rest = Buffer.from(bytes.subarray(end).subarray(-portion));
        if (bytesRead < portion) return found;
      }
    } finally {
      await file.close();
    }
  };
  let toldUntil = Number.NEGATIVE_INFINITY;
  const tellWatchdog = async (): Promise<void> => {
    for (const at of await of.fired())
      if (at > toldUntil && !signal.aborted) {
        tell({ kind: 'watchdog', at, written: true });
        toldUntil = at;
      }
  };
  const tellOf = async (found: readonly Found[]): Promise<void> => {
    for (const { kind, at } of found) {
      if (kind === 'reset') await tellWatchdog();
      if (!signal.aborted && (kind === 'panic' || !of.asked(at))) tell({ kind, at: Date.now() });
    }
  };
  const first = async (): Promise<void> => {
    const found = await more();
    const earlier = found.filter(({ at }) => at < before);
    // One that was asked for before anybody listened is answered too: it does not stand for one of the guest's own later.
    for (const { kind, at } of earlier) if (kind === 'reset') of.asked(at);
    await tellWatchdog();
    if (earlier.at(-1)?.kind === 'panic' && !signal.aborted) tell({ kind: 'panic', at: Date.now() });
    await tellOf(found.slice(earlier.length));
  };
  const next = async (): Promise<void> => tellOf(await more());
  // A file that is gone: so is its VMM.
  let reading = Promise.resolve();
  const look = (how: () => Promise<void>): void => void (reading = reading.then(how).catch(() => undefined));
  try {
    const watcher = watch(path, { persistent: false }, () => look(next));
    watcher.on('error', () => undefined);
    signal.addEventListener('abort', () => watcher.close(), { once: true });
  } catch {
    // No more watches, or no file: what it did before is all that will be known.
  }
  look(first);
};
