import { Journal } from '../../../src/core/host/journal/journal';

/**
 * Writes records without end and says which are stored, until it is killed: `journal-writer.ts <dir>`. The file is
 * written anew all the time.
 */
const main = async (): Promise<void> => {
  const journal = new Journal<number>({ dir: process.argv[2] ?? '' });
  await journal.open();
  let counter = journal.get('counter') ?? 0;
  for (;;) {
    await Promise.all(Array.from({ length: 400 }, (_, i) => journal.put(`fill${i}`, i, { sync: false })));
    counter += 1;
    await journal.put('counter', counter, { sync: true });
    process.stdout.write(`${counter}\n`);
  }
};

void main();
