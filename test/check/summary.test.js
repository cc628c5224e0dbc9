const { spawnSync } = require('node:child_process');
const { mkdtempSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { countLines, countRun, failedLines, skippedLines } = require('./summary');

const suite = `
  describe('a noun', () => {
    it('holds', () => undefined);
    it('does not hold', () => expect({ a: 1 }).toEqual({ a: 2 }));
    it.skip.each(['one', 'two', 'three'])('is left out: %s', () => undefined);
  });
`;
const hanging = `
  it('was done', () => expect(1).toBe(2));
  it('never ends', () => process.kill(process.pid, 'SIGKILL'));
`;

describe('what the check tells of a suite', () => {
  let root;
  beforeAll(() => {
    root = mkdtempSync(join(process.cwd(), '.cache', 'check-'));
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  const jest = (files) => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
    const progress = join(root, 'progress');
    writeFileSync(progress, '');
    const { status } = spawnSync(
      process.execPath,
      [
        join(process.cwd(), 'node_modules/jest/bin/jest.js'),
        '--rootDir',
        root,
        '--config',
        '{"transform":{}}',
        '--runInBand',
        '--cache=false',
        `--reporters=${join(__dirname, 'progress-reporter.js')}`,
      ],
      { env: { ...process.env, VC_STACK_TEST_PROGRESS: progress, JEST_WORKER_ID: undefined }, stdio: 'ignore' },
    );
    for (const name of Object.keys(files)) rmSync(join(root, name));
    return {
      status,
      ...countRun(
        readFileSync(progress, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line)),
        status === 0 ? '' : `exit ${status ?? 'SIGKILL'}`,
      ),
    };
  };

  it('names what failed, where and with which message, and files that do not load', () => {
    const found = jest({ 'a.test.js': suite, 'b.test.js': "require('./nowhere');" });
    expect(found).toMatchObject({
      status: 1,
      passed: 1,
      skipped: ['a noun is left out: one', 'a noun is left out: two', 'a noun is left out: three'],
    });
    expect(found.failed.map((f) => f.name.replace(/^.*check-[^/]*/, '')).sort()).toEqual([
      '/b.test.js',
      'a noun does not hold',
    ]);
    expect(found.failed.find((f) => f.name === 'a noun does not hold').message).toMatch(
      /a\.test\.js:4: .*toEqual.* \| .*\| \+ {3}"a": 1,|- {3}"a": 2/,
    );
    expect(found.failed.find((f) => f.name !== 'a noun does not hold').message).toContain(
      "Cannot find module './nowhere'",
    );
  }, 60_000);

  it('names what had failed and what was running when a suite died', () => {
    const { status, failed } = jest({ 'c.test.js': hanging });
    expect(status).toBeNull();
    expect(failed.map((f) => f.name)).toEqual(['was done', 'never ends']);
    expect(failed[1].message).toBe('was running when the suite ended: exit SIGKILL');
  }, 60_000);

  it('takes a suite that ran no test, and one that ends badly with every test passed, for failed', () => {
    expect(countRun([], 'exit 1').failed).toEqual([{ name: 'the suite itself', message: 'ran no test: exit 1' }]);
    expect(
      countRun(
        [{ kind: 'done', path: '/a', cases: [{ name: 'x', status: 'passed', messages: [] }] }, { kind: 'end' }],
        'exit 1',
      ),
    ).toMatchObject({ passed: 1, failed: [{ message: 'exit 1' }] });
  });

  it('reads the cases of a suite that counts by itself', () => {
    const output =
      'FAIL kill a/b\n       the task is stuck\n       left: x\nskipped: 12 × y\nchaos: 5 passed, 1 failed, 12 skipped\n';
    expect(countLines('chaos', output, 'exit 1', output)).toEqual({
      passed: 5,
      failed: [{ name: 'kill a/b', message: 'the task is stuck | left: x' }],
      skipped: ['12 × y'],
      skippedCount: 12,
    });
    expect(countLines('chaos', 'FAIL kill a/b\nError', 'exit 1', 'Error').failed.map((f) => f.name)).toEqual([
      'kill a/b',
      'no count in its last line',
    ]);
    expect(countLines('chaos', 'chaos: 5 passed, 2 failed, 0 skipped', 'exit 1', '').failed).toHaveLength(2);
  });

  it('keeps what it prints short, however much failed', () => {
    const failures = Array.from({ length: 500 }, (_, i) => ({
      suite: 'e2e',
      name: `test ${i}`,
      message: 'm'.repeat(5_000),
    }));
    const lines = failedLines(failures);
    expect(lines.join('\n').length).toBeLessThan(6_200);
    expect(lines.at(-1)).toBe('failed: and 460 more');
    expect(failedLines(failures.slice(0, 1))[0]).toMatch(/^failed: e2e: test 0: m+…$/);
  });

  it('gives tests that one choice skips one line', () => {
    const names = ['instances', 'menu', 'host'].map((view) => ({ suite: 'e2e', name: `the album: ${view}` }));
    expect(
      skippedLines([...names, { suite: 'unit', name: 'alone' }, { suite: 'guests', name: 'debian: twelve' }]),
    ).toEqual([
      'skipped: e2e: the album: 3 tests (instances, menu, host)',
      'skipped: unit: alone',
      'skipped: guests: debian: twelve',
    ]);
  });
});
