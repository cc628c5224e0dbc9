import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { repositoryRoot } from './repository';

/** Path of a virtiofsd that runs here, fetched when the cache has none; null where none can be had. */
export const virtiofsd = (): string | null => {
  const got = spawnSync(join(repositoryRoot, 'test/guests/get-virtiofsd'), [join(repositoryRoot, '.cache')], {
    encoding: 'utf8',
  });
  return got.status === 0 ? (got.stdout.trim().split('\n').at(-1) ?? null) : null;
};
