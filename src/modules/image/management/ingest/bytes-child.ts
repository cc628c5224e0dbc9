import { giveUpRoot } from '../../../../core/host/processes/limited-child';
import { ImageRefused } from '../import/image-refused';
import { bootsBy } from './boot-evidence';
import { inspectBootFile } from './boot-file';
import { bytesJob, source, type BytesReport } from './bytes-messages';
import { digestFile } from './file-digest';
import { inspectImage } from './image-header';
import { OpenFile } from './open-file';

/**
 * The process that reads the bytes of one image: what is in them can end, or keep busy, this one only. It ends with
 * whoever started it.
 */
const look = async (message: unknown): Promise<BytesReport> => {
  const { inspect, boot, boots, digests, extents } = bytesJob.parse(message);
  const file = await OpenFile.of(source);
  try {
    const facts = inspect && (await inspectImage(file, inspect.claimed, inspect.maxVirtualBytes));
    if (boot) await inspectBootFile(file, boot);
    const found = boots ? await bootsBy(file) : null;
    const { sha256, sha512 } = await digestFile(file, digests, extents);
    return { kind: 'done', facts, boots: found, sha256: sha256 ?? null, sha512: sha512 ?? null };
  } catch (error) {
    if (error instanceof ImageRefused) return { kind: 'refused', code: error.code, message: error.message };
    throw error;
  }
};

process.once('disconnect', () => process.exit(0));
process.once('message', (message) => {
  giveUpRoot();
  void look(message).then(
    (report) => process.send?.(report, undefined, undefined, () => process.exit(0)),
    (error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      process.exit(1);
    },
  );
});
