import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clearTrials, inTrialPlace } from './trial-place';

describe('what is left of trials', () => {
  let cache: string;
  beforeEach(() => (cache = mkdtempSync(join(tmpdir(), 'vcs-trials-'))));
  afterEach(() => rmSync(cache, { recursive: true }));

  const ended = { pid: 4_194_304, startTime: '1' };
  const noted = (text: string): void => writeFileSync(join(cache, 'trial-x.json'), text);

  it('goes when its agent is gone, and stays while that is at it', async () => {
    const left = join(cache, 'vc-stack-probe-00000000-0000-4000-8000-000000000000');
    mkdirSync(left);
    noted(JSON.stringify({ directory: left, by: ended }));
    const during = await inTrialPlace(cache, async (directory) => {
      await clearTrials(cache);
      return existsSync(directory);
    });
    expect([during, existsSync(left), readdirSync(cache)]).toEqual([true, false, []]);
  });

  it.each(['', '{"directory":', '{"directory":"/etc"}'])(
    'keeps nobody from a probe by a note that says nothing: %s',
    async (text) => {
      noted(text);
      await clearTrials(cache);
      expect(readdirSync(cache)).toEqual([]);
    },
  );

  it("never takes another folder for a trial's", async () => {
    const other = join(cache, 'instances');
    mkdirSync(other);
    noted(JSON.stringify({ directory: other, by: ended }));
    await clearTrials(cache);
    expect(readdirSync(cache)).toEqual(['instances']);
  });
});
