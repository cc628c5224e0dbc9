import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

const upwards = (from: string): string =>
  existsSync(join(from, 'package.json')) || dirname(from) === from ? from : upwards(dirname(from));

/** The checkout's root, from source and compiled alike. */
export const repositoryRoot = upwards(__dirname);
