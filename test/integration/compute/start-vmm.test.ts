import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { isRunning } from '../../../src/core/host/processes/process-identity';
import { processesNaming } from '../../../src/core/host/processes/processes-naming';
import { LauncherGone } from '../../../src/core/host/sandbox/launcher-gone';
import { startVmm } from '../../../src/modules/compute/node/drivers/common/start-vmm';
import { killLauncher } from '../host/launcher-process';
import { StalledChain } from '../host/stalled-chain';
import { testUser } from './test-sandbox';

describe('the start of a VMM', () => {
  const path = process.env['PATH'];
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp('/tmp/t-start-vmm-');
    await chmod(directory, 0o755);
  });
  afterEach(async () => {
    process.env['PATH'] = path;
    await rm(directory, { recursive: true, force: true });
  });

  it('leaves nothing and says why when its launcher is killed before its program is known', async () => {
    const stalled = new StalledChain(directory);
    process.env['PATH'] = stalled.env['PATH'];
    const [runDir, logDir] = [join(directory, 'run'), join(directory, 'log')];
    const spec = {
      ...{ instanceId: randomUUID(), name: 'x', vcpus: 1, memoryBytes: 2 ** 26, disks: [], nics: [] },
      ...{ netns: 'nowhere', user: testUser, runDir, logDir },
    };
    const starting = startVmm(
      spec,
      {
        kind: 'test',
        program: '/usr/bin/sh',
        args: ['-c', 'sleep 60', join(runDir, 'socket')],
        checks: Promise.resolve(),
        process: { logFile: join(logDir, 'vmm.log'), sandbox: { user: testUser } },
        sockets: [],
        observe: () => Promise.reject(new Error('it was begun')),
        confine: () => Promise.resolve(false),
      },
      pino({ enabled: false }),
    );
    // It is asked for below.
    starting.catch(() => undefined);
    try {
      const chain = await stalled.begun();
      expect(await processesNaming(runDir)).toEqual([{ ...chain, commandLine: expect.stringContaining(runDir) }]);
      killLauncher();
      await expect(starting).rejects.toThrow(LauncherGone);
      expect(isRunning(chain)).toBe(false);
      expect(await processesNaming(runDir)).toEqual([]);
      expect([runDir, logDir].filter((folder) => existsSync(folder))).toEqual([]);
      expect(existsSync(`/sys/fs/cgroup/vc-stack/instance-${spec.instanceId}`)).toBe(false);
    } finally {
      stalled.end();
    }
  }, 60_000);
});
