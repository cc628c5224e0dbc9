import { open } from 'node:fs/promises';
import { z } from 'zod';

const eventSchema = z.object({
  source: z.string(),
  event: z.string(),
  properties: z.record(z.string(), z.string()).nullish(),
});
export type ChEvent = z.infer<typeof eventSchema>;

/** Enough for the end of a VM's life, in bytes. */
const tailBytes = 256 * 1024;

/**
 * Objects separated by blank lines, pretty printed over several lines; what is cut off at the front or not written to
 * its end is left out.
 */
export const parseEvents = (text: string): ChEvent[] =>
  text.split('\n\n').flatMap((part) => {
    try {
      const parsed = eventSchema.safeParse(JSON.parse(part));
      return parsed.success ? [parsed.data] : [];
    } catch {
      return [];
    }
  });

/**
 * The last events of a VMM whose event monitor writes to this file. A file loses none, unlike a pipe. Empty when there
 * is no file.
 */
export const readEvents = async (path: string): Promise<ChEvent[]> => {
  const file = await open(path, 'r').catch(() => null);
  if (!file) return [];
  try {
    const { size } = await file.stat();
    const length = Math.min(size, tailBytes);
    const buffer = Buffer.alloc(length);
    await file.read(buffer, 0, length, size - length);
    return parseEvents(buffer.toString('utf8'));
  } finally {
    await file.close();
  }
};

/** The VMM said that its VM, or it itself, shut down in order. */
export const shutDownInOrder = (events: readonly ChEvent[]): boolean =>
  events.some(({ source, event }) => event === 'shutdown' && (source === 'vm' || source === 'vmm'));
