import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { namespacesNow, TestNamespaces } from '../../support/namespaces';

describe('two runs of one test', () => {
  it('take nothing of each other, and what a killed one left goes with the next', async () => {
    const test = 't-two-runs';
    const other = fork(join(__dirname, 'namespace-holder.ts'), [test], {
      execArgv: ['-r', require.resolve('../../support/ts-register.js')],
    });
    try {
      const [theirs] = (await once(other, 'message')) as [string];
      const namespaces = new TestNamespaces(test);
      const ours = namespaces.add('one');
      expect(namespacesNow()).toEqual(expect.arrayContaining([theirs, ours]));
      const gone = once(other, 'exit');
      other.kill('SIGKILL');
      await gone;
      new TestNamespaces(test).close();
      expect(namespacesNow().filter((name) => [theirs, ours].includes(name))).toEqual([]);
    } finally {
      other.kill('SIGKILL');
    }
  }, 60_000);
});
