import { open } from 'node:fs/promises';
import { giveUpRoot } from '../../../../core/host/processes/limited-child';
import { destination, fetchJob, type FetchReport } from './fetch-messages';
import { UrlDownload } from './url-download';

/**
 * The process that fetches one URL: what a stranger's server sends can end this one only. It may write to one open file
 * and to its channel, and ends with whoever started it.
 */
const main = async (message: unknown): Promise<void> => {
  giveUpRoot();
  const file = await open(`/proc/self/fd/${destination}`, 'r+');
  const report = (what: FetchReport): Promise<void> =>
    new Promise((done) => process.send?.(what, undefined, undefined, () => done()));
  await new UrlDownload(fetchJob.parse(message), report).into(file);
  // Connections that a server holds open do not hold the process.
  process.exit(0);
};

process.once('disconnect', () => process.exit(0));
process.once(
  'message',
  (message) =>
    void main(message).catch((error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      process.exit(1);
    }),
);
