import { watch } from 'node:fs';
import { open } from 'node:fs/promises';
import type { GuestEvent } from '../guest-event';
import { parseEvents, type ChEvent } from './ch-events';

/** Bytes that are read at a time, and the longest that may lie there unfinished; an event has some hundred. */
const portion = 64 * 1024;

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

/**
 * Tells what a guest does, as its VMM writes it to its file of events, until the signal. Of what is there already only a
 * panic is told that no reset followed: the resets of an agent's absence are not counted, for some were asked for.
 * A watchdog that fired in the agent's absence is told too: its VMM's log has it.
 */
export const followGuest = (
  path: string,
  of: {
    /** Of a reset: whether it was asked for by us. */
    asked: () => boolean;
    /** When the watchdog fired, as far as it is known. */
    fired: () => Promise<number[]>;
  },
  tell: (event: GuestEvent) => void,
  signal: AbortSignal,
): void => {
  let offset = 0;
  let rest = '';
  const more = async (): Promise<GuestEvent['kind'][]> => {
    const file = await open(path, 'r');
    try {
      const found: GuestEvent['kind'][] = [];
      for (const buffer = Buffer.alloc(portion); ; ) {
        const { bytesRead } = await file.read(buffer, 0, portion, offset);
        offset += bytesRead;
        const text = rest + buffer.toString('utf8', 0, bytesRead);
        // A blank line stands behind each that is written whole.
        const end = text.lastIndexOf('\n\n') + 1;
        found.push(...parseEvents(text.slice(0, end)).flatMap((event) => kindOf(event) ?? []));
        rest = text.slice(end).slice(-portion);
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
  const first = async (): Promise<void> => {
    const kinds = await more();
    await tellWatchdog();
    if (kinds.at(-1) === 'panic' && !signal.aborted) tell({ kind: 'panic', at: Date.now() });
  };
  const next = async (): Promise<void> => {
    for (const kind of await more()) {
      if (kind === 'reset') await tellWatchdog();
      if (!signal.aborted && (kind === 'panic' || !of.asked())) tell({ kind, at: Date.now() });
    }
  };
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
