import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cachedTrial, forgetTrial, trial } from './trial-cache';

describe('the outcome of a trial boot', () => {
  let directory: string;
  let file: string;
  beforeEach(async () => {
    directory = await mkdtemp('/tmp/t-trial-');
    file = join(directory, 'sub', 'trial.json');
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));
  const minute = 60_000;
  let runs = 0;
  const ask = async (works: boolean, at: number, key = 'k'): Promise<{ works: boolean; made: boolean }> => {
    const before = runs;
    const outcome = await cachedTrial(
      file,
      key,
      trial,
      async () => ({ works, reason: String(++runs) }),
      () => at,
    );
    return { works: outcome.works, made: runs > before };
  };

  it('is kept while it is good, until the host changes', async () => {
    expect(await ask(true, 0)).toEqual({ works: true, made: true });
    expect(await ask(false, 1000 * minute)).toEqual({ works: true, made: false });
    expect(await ask(false, 1000 * minute, 'other')).toEqual({ works: false, made: true });
  });
  it('is asked for again after a failure, at growing intervals', async () => {
    expect(await ask(false, 0)).toEqual({ works: false, made: true });
    expect(await ask(true, minute - 1)).toEqual({ works: false, made: false });
    expect(await ask(false, minute)).toEqual({ works: false, made: true });
    expect(await ask(true, 5 * minute)).toEqual({ works: false, made: false });
    expect(await ask(true, 6 * minute)).toEqual({ works: true, made: true });
    expect(await ask(false, 7 * minute)).toEqual({ works: true, made: false });
  });
  it('of a failure counts for nothing when it is forgotten, or the clock was set back', async () => {
    await ask(false, 1000 * minute);
    expect(await ask(false, 999 * minute)).toEqual({ works: false, made: true });
    await forgetTrial(file);
    expect(await ask(true, 999 * minute)).toEqual({ works: true, made: true });
  });
});
