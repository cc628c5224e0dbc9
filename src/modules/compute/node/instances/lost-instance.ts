import { stat } from 'node:fs/promises';
import { join } from 'node:path';

/** An instance whose record cannot be read: it is left alone, running or not, and can only be removed. */
export interface LostInstance {
  instanceId: string;
  reason: string;
  /** User id of its VMM, so that no other instance is given it; null when it never had one. */
  user: number | null;
  /** CPUs that its machine may have for itself, so that no other instance is given them. */
  cpus: number[];
}

/** What can be told of an instance without its record. */
export const lostInstance = async (
  instanceId: string,
  reason: string,
  text: string,
  runDirectory: string,
): Promise<LostInstance> => ({
  instanceId,
  reason,
  user: recordedUser(text) ?? (await folderUser(runDirectory)),
  cpus: recordedCpus(text),
});

const recordedCpus = (text: string): number[] =>
  [...text.matchAll(/"cpus":\[(\d{1,5}(?:,\d{1,5}){0,1023})\]/g)].flatMap(([, list = '']) =>
    list.split(',').map(Number),
  );

const recordedUser = (text: string): number | null => {
  const found = /"user":(\d{1,10})\b/.exec(text)?.[1];
  return found === undefined || Number(found) === 0 ? null : Number(found);
};

/** The folder of its sockets belongs to it. */
const folderUser = (runDirectory: string): Promise<number | null> =>
  stat(join(runDirectory, 's')).then(
    ({ uid }) => (uid === 0 ? null : uid),
    () => null,
  );
