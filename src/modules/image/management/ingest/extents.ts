import { z } from 'zod';

export interface Extent {
  start: number;
  length: number;
  /** Nothing is stored there: it reads as zeros. */
  hole: boolean;
}

const printed = z.object({ start: z.int().min(0), length: z.int().min(1), zero: z.boolean(), data: z.boolean() });

const parse = (line: string): z.output<typeof printed> | null => {
  try {
    return printed.safeParse(JSON.parse(line.replace(/^\[/, '').replace(/[,\]]\s*$/, ''))).data ?? null;
  } catch {
    return null;
  }
};

/**
 * The extents of a file in order, without gap from 0 to `bytes`. What the map does not say, or says in a way that
 * cannot be, counts as data: a map that is wrong costs time only.
 * @param map as `qemu-img map --output=json` prints it for a raw file, one extent a line; null when there is none
 */
export function* extentsOf(map: string | null, bytes: number): Generator<Extent> {
  let at = 0;
  for (const line of map?.split('\n') ?? []) {
    const found = parse(line);
    if (!found || found.start !== at || found.start + found.length > bytes) break;
    yield { start: at, length: found.length, hole: found.zero && !found.data };
    at += found.length;
  }
  if (at < bytes) yield { start: at, length: bytes - at, hole: false };
}
