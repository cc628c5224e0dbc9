/**
 * Runs the drivers' tests on a whole Debian host with a KVM that works, built here and run in software emulation:
 *
 *     npm run test:lab [-- --binary PATH]     PATH or VC_CLOUD_HYPERVISOR: a real Cloud Hypervisor, tried too
 *     npm run test:lab -- --only contract     only parts whose name has that in it
 *
 * Names what is skipped and what fails; the last line is `lab: N passed, N failed, N skipped`.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { repositoryRoot } from '../support/repository';
import { runInside } from './inner-suite';
import { LabHost } from './lab-host';
import { makeProductDisk } from './product-disk';
import { Tally } from './tally';

const { values } = parseArgs({ options: { binary: { type: 'string' }, only: { type: 'string', default: '' } } });
const named = values.binary ?? process.env['VC_CLOUD_HYPERVISOR'];

const lastLine = (script: string, env: Record<string, string> = {}): string =>
  execFileSync(join(repositoryRoot, script), [join(repositoryRoot, '.cache')], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
    .trim()
    .split('\n')
    .pop() ?? '';

/** A QEMU whose emulation runs current kernels, so that Landlock is at work; else the machine's and Debian's own kernel. */
const parts = (tally: Tally): { qemu: string; host: string; landlock: boolean } => {
  try {
    const qemu = lastLine('test/guests/get-qemu');
    return { qemu, host: lastLine('test/lab/build-host', { KERNEL_FROM: 'backports' }), landlock: true };
  } catch (error) {
    tally.skip(`Landlock: no QEMU 10 or no newer kernel can be had (${(error as Error).message.split('\n')[0]})`);
    return { qemu: 'qemu-system-x86_64', host: lastLine('test/lab/build-host'), landlock: false };
  }
};

/** What boots disks by it. */
const firmwareBeside = (binary: string): Record<string, string> =>
  Object.fromEntries(
    ['hypervisor-fw', 'CLOUDHV.fd']
      .map((name) => [name, join(dirname(binary), name)] as const)
      .filter(([, path]) => existsSync(path)),
  );

const inside = '/opt/vc-stack/extra';

const tried = async (lab: LabHost, tally: Tally, binary: string | undefined): Promise<void> => {
  const wanted = (part: string): boolean => part.includes(values.only);
  await tally.try('the host has KVM, cgroup controllers and systemd', async () => {
    const facts = await lab.sh(
      'uname -r; ls /dev/kvm; cat /sys/fs/cgroup/cgroup.controllers; cat /sys/kernel/security/lsm; echo; cat /proc/1/comm',
    );
    process.stdout.write(`     ${facts.replaceAll('\n', '; ')}\n`);
    if (!/\/dev\/kvm\n.*memory.*\n[^\n]*\nsystemd$/.test(facts)) throw new Error(facts);
  });
  if (wanted('control groups'))
    await runInside(
      lab,
      { name: 'control groups', project: 'integration', files: 'host/instance-cgroup', minutes: 10 },
      tally,
    );
  const real = { VC_CLOUD_HYPERVISOR: `${inside}/cloud-hypervisor` };
  for (const suite of [
    {
      name: "cloud-hypervisor, the driver's contract",
      project: 'integration',
      files: 'compute/cloud-hypervisor.real',
      minutes: 25,
    },
    {
      name: 'cloud-hypervisor, the life of an instance',
      project: 'e2e',
      files: 'e2e/cloud-hypervisor',
      env: { VC_STACK_TEST_PATIENCE: '5' },
      minutes: 30,
    },
    {
      name: 'cloud-hypervisor, the cases of its API',
      project: 'conformance',
      files: 'conformance/binary',
      minutes: 25,
    },
  ]) {
    if (!wanted(`${suite.name} ${suite.project}`)) continue;
    if (binary === undefined) tally.skip(`${suite.name}: needs a binary (--binary, VC_CLOUD_HYPERVISOR)`);
    else await runInside(lab, { ...suite, env: { ...suite.env, ...real } }, tally);
  }
  // Last: it has ended the emulation of the whole host before (QEMU 10.0's assertion `bql_locked`).
  if (wanted('qemu contract'))
    await runInside(
      lab,
      {
        name: "qemu by KVM, the driver's tests",
        project: 'integration',
        files: 'compute/qemu.(driver|vsock).test',
        env: { VC_STACK_TEST_ACCEL: 'kvm' },
        minutes: 25,
      },
      tally,
    );
};

const main = async (): Promise<number> => {
  const tally = new Tally();
  const binary = named === undefined ? undefined : resolve(named);
  const directory = mkdtempSync('/tmp/vcs-lab-');
  let lab: LabHost | undefined;
  const clean = async (): Promise<void> => {
    await lab?.close();
    rmSync(directory, { recursive: true, force: true });
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void clean().finally(() => process.exit(130)));
  try {
    const { qemu, host } = parts(tally);
    const product = join(directory, 'product.img');
    makeProductDisk(product, {
      ...(binary !== undefined && { 'cloud-hypervisor': binary, ...firmwareBeside(binary) }),
    });
    if (
      await tally.try(
        'the lab host boots',
        async () => void (lab = await LabHost.boot({ host, qemu, product, directory })),
      )
    )
      if (lab) await tried(lab, tally, binary);
  } finally {
    await clean();
  }
  return tally.end();
};

void main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`lab: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  },
);
