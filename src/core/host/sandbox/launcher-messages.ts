import { z } from 'zod';

/** A command whose programs replace themselves one by the next, the last being the program that it is about. */
export interface Chain {
  command: string;
  args: readonly string[];
  /** Standard output and error go there, truncated. */
  logFile: string;
  /** Truncated, and open as `eventFd`. */
  eventFile: string | null;
  /** Truncated, and open as `statusFd`. */
  statusFile: string | null;
  /** A device node, open to read and write as `deviceFd`. */
  deviceFile: string | null;
  /** The program does not begin before it is told to. */
  heldBack: boolean;
  env: Record<string, string>;
}

/** To the launcher. `end` ends the chain's own process, which is not the program's. */
export type LauncherOrder = { id: number; start: Chain } | { id: number; then: 'begin' | 'end' };

/**
 * From the launcher: a chain's program (null when there will be none), that it was told to begin, the end of the chain,
 * or why it was not started at all.
 */
export const launcherNews = z.union([
  z.object({ id: z.number(), program: z.object({ pid: z.number(), startTime: z.string() }).nullable() }),
  z.object({ id: z.number(), begun: z.literal(true) }),
  z.object({ id: z.number(), ended: z.string() }),
  z.object({ id: z.number(), failed: z.string() }),
]);
export type LauncherNews = z.output<typeof launcherNews>;

/** Descriptor on which bubblewrap tells the program's process id. */
export const infoFd = 3;
/** Descriptor that bubblewrap reads before the program begins. */
export const blockFd = 4;
/** Descriptor of a file that the program writes events to. */
export const eventFd = 5;
/** Descriptor of a file that bubblewrap writes the program's end to; the program does not have it. */
export const statusFd = 6;
/** Descriptor of a device that the program uses, and has no right to open. */
export const deviceFd = 7;
