import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { hostHash, netnsPrefix } from '../../src/modules/network/node/drivers/linux/names';
import { makePki } from '../integration/cli/fake-control-plane';
import { freePort } from '../support/free-port';
import { sh } from '../support/namespaces';

const run = promisify(execFile);
const root = resolve(__dirname, '../..');
const minutes = 60_000;

describe('quickstart', () => {
  const directory = mkdtempSync('/tmp/vcs-qs-');
  const state = join(directory, 'state');
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    // As a user's shell has it: the test's own would make a console for development of it.
    NODE_ENV: undefined,
    VC_STACK_STATE_DIR: state,
    VC_STACK_RUN_DIR: join(directory, 'run'),
    VCCTL_CONFIG: join(directory, 'vcctl.yaml'),
  };
  const quickstart = async (...args: string[]): Promise<string> =>
    (await run('bash', [join(root, 'bin/quickstart'), ...args], { env, timeout: 8 * minutes, maxBuffer: 2 ** 24 }))
      .stdout;
  const processes = (text: string): string[] =>
    readdirSync('/proc').filter((pid) => {
      if (!/^\d+$/.test(pid)) return false;
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text);
      } catch {
        return false;
      }
    });
  const summary = (output: string): string => output.slice(output.indexOf('  Console '));

  let first = '';
  let guests: string[] = [];

  beforeAll(async () => {
    chmodSync(directory, 0o755);
    // Other stacks of this machine go on beside it.
    for (const name of ['VC_STACK_MANAGEMENT__PORT', 'VC_STACK_MANAGEMENT__NODE_PORT', 'VC_STACK_COMPUTE__PORT'])
      env[name] = String(await freePort());
  });
  afterAll(async () => {
    if (existsSync(state)) await quickstart('--down').catch(() => undefined);
    rmSync(directory, { recursive: true, force: true });
  }, 3 * minutes);

  it(
    'takes no other server on its port for its own, and says who has it',
    async () => {
      const { leaf: cert, key } = await makePki();
      const other = createServer({ cert, key }, (_req, res) => res.end('{"status":"healthy"}'));
      await new Promise<void>((done) => other.listen(Number(env['VC_STACK_MANAGEMENT__PORT']), '127.0.0.1', done));
      try {
        const failed = await quickstart().then(
          () => undefined,
          (error: unknown) => error as { stdout: string; stderr: string },
        );
        expect(failed?.stderr).toContain(`port ${env['VC_STACK_MANAGEMENT__PORT']} is taken by node`);
        expect(failed?.stderr).toContain(
          `(pid ${process.pid}): stop it, or choose another port with VC_STACK_MANAGEMENT__PORT`,
        );
        expect(failed?.stdout).not.toContain('logging in');
      } finally {
        await new Promise((done) => other.close(done));
      }
    },
    10 * minutes,
  );

  it(
    'goes from nothing to a running guest and says how to reach it',
    async () => {
      first = await quickstart();
      expect(first).toMatch(/host: .* is ready; qemu .* with (kvm|tcg)/);
      expect(first).toMatch(/Start the virtual machine/);
      expect(summary(first)).toMatch(new RegExp(`Console {4}https://.*:${env['VC_STACK_MANAGEMENT__PORT']}/console/`));
      expect(summary(first)).toMatch(/Login {6}admin \/ \S{12,}/);
      expect(summary(first)).toMatch(/quickstart, running, 10\.77\.0\.\d+/);
      guests = processes('-name\0guest=').filter((pid) => {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        // Who waits for its end has the same words.
        return command.includes(directory) && !command.includes('bwrap\0');
      });
      expect(guests).toHaveLength(1);
    },
    10 * minutes,
  );

  it(
    'changes nothing and prints the same when it runs again',
    async () => {
      const second = await quickstart();
      expect(summary(second)).toBe(summary(first));
      expect(second).toMatch(/instance: quickstart is there/);
    },
    3 * minutes,
  );

  it(
    "keeps the guest's uptime when vc-stack dies and is started again",
    async () => {
      const [pid] = readFileSync(join(directory, 'run', 'vc-stack.pid'), 'utf8').split(' ');
      process.kill(Number(pid), 'SIGKILL');
      expect(summary(await quickstart())).toBe(summary(first));
      expect(processes('-name\0guest=')).toEqual(expect.arrayContaining(guests));
    },
    3 * minutes,
  );

  it(
    'leaves nothing behind when it is taken down',
    async () => {
      const { hostId } = JSON.parse(readFileSync(join(state, 'compute', 'identity', 'identity.json'), 'utf8')) as {
        hostId: string;
      };
      await quickstart('--down');
      expect(existsSync(state)).toBe(false);
      expect(existsSync(join(directory, 'run'))).toBe(false);
      expect(sh('ip', 'netns', 'list')).not.toContain(netnsPrefix(hostHash(hostId)));
      expect(sh('nft', 'list', 'tables')).not.toContain(hostHash(hostId));
      expect(sh('ip', 'link')).not.toContain(`l${hostHash(hostId)}`);
      expect(processes(directory).filter((pid) => Number(pid) !== process.pid)).toEqual([]);
    },
    3 * minutes,
  );
});
