import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/** Of the kernel's ring buffer: it is as long as its log buffer, some thousand lines. */
const mostRecords = 100_000;
/** Bytes; the kernel gives one record at a time, and none is longer. */
const longestRecord = 8192;

/** Whether the text of a record says that the kernel ended a process of that user because memory ran out. */
export const tellsOfOomKill = (record: string, user: number): boolean =>
  /Killed process \d+ /.test(record) && new RegExp(`\\bUID:${user}\\b`).test(record);

/**
 * Whether the kernel reported since `since` (its own clock: microseconds since boot, as in field three of its records)
 * that it ended a process of that user because memory ran out. For users that one process alone has; false when its
 * report cannot be read.
 */
export const oomKillReported = async (user: number, since: number): Promise<boolean> => {
  const report = await open('/dev/kmsg', constants.O_RDONLY | constants.O_NONBLOCK).catch(() => null);
  if (!report) return false;
  try {
    const buffer = Buffer.alloc(longestRecord);
    for (let n = 0; n < mostRecords; n += 1) {
      const read = await report.read(buffer, 0, longestRecord, null).then(
        ({ bytesRead }) => bytesRead,
        // What was overwritten meanwhile is passed over; anything else is the end.
        (error: NodeJS.ErrnoException) => (error.code === 'EPIPE' ? 0 : -1),
      );
      if (read < 0) return false;
      const record = buffer.toString('utf8', 0, read);
      const at = Number(record.split(',')[2]);
      if (at >= since && tellsOfOomKill(record, user)) return true;
    }
    return false;
  } finally {
    await report.close();
  }
};
