import { createHash, type Hash } from 'node:crypto';
import { setImmediate as others } from 'node:timers/promises';
import { extentsOf } from './extents';
import type { OpenFile } from './open-file';

const pieceBytes = 1024 * 1024;
const zeros = Buffer.alloc(pieceBytes);

/**
 * The digests of a file's bytes. Its holes are zeros to the hash, and are not read: that would push everybody else's
 * files out of memory.
 */
export const digestFile = async <N extends string>(
  file: OpenFile,
  names: readonly N[],
  map: string | null,
): Promise<Partial<Record<N, string>>> => {
  const hashes = names.map((name) => [name, createHash(name)] as [N, Hash]);
  const buffer = Buffer.alloc(pieceBytes);
  for (const { start, length, hole } of extentsOf(map, file.bytes)) {
    for (let done = 0; done < length; done += pieceBytes) {
      const wanted = Math.min(pieceBytes, length - done);
      if (hole) {
        // The end of the process that asked is seen between two pieces.
        if (done % (64 * pieceBytes) === 0) await others();
      } else if ((await file.into(buffer, start + done, wanted)) < wanted)
        throw new Error('the file became shorter while it was read');
      const piece = (hole ? zeros : buffer).subarray(0, wanted);
      for (const [, hash] of hashes) hash.update(piece);
    }
  }
  return Object.fromEntries(hashes.map(([name, hash]) => [name, hash.digest('hex')])) as Partial<Record<N, string>>;
};
