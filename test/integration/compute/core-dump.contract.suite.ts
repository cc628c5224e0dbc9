import { spawnSync } from 'node:child_process';
import { mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isRunning, signalProcess } from '../../../src/core/host/processes/process-identity';
import type { CoreDumping, VmHandle, VmSpec, VmmDriver } from '../../../src/modules/compute/node/drivers/vmm-driver';
import type { ContractSubject } from './driver.contract.suite';
import type { SerialClient } from './serial-client';
import { waitFor } from '../../support/wait-for';

interface Started {
  driver: VmmDriver;
  handle: VmHandle;
  serial: SerialClient;
}

const never = new AbortController().signal;
/** Of `serialGuestDisk`: what its guest holds in its memory from the BIOS's read of its sector on. */
const guestCode = Buffer.from('ea057c000031c08ed88ed0bc007c', 'hex');

/** Segments of memory of an ELF core, as `readelf` reads them. */
const segments = (path: string): { physical: number; bytes: number }[] => {
  const { stdout } = spawnSync('readelf', ['-lW', path], { encoding: 'utf8' });
  expect(stdout).toMatch(/Elf file type is CORE/);
  return [...stdout.matchAll(/^ *LOAD +\S+ \S+ (0x\w+) (0x\w+)/gm)].map(([, physical, bytes]) => ({
    physical: Number(physical),
    bytes: Number(bytes),
  }));
};

/** What is in the memory of a machine, as a file: the same for every driver that does it. */
export const coreDumpContract = (
  subject: () => ContractSubject,
  specOf: () => VmSpec,
  start: (change?: Partial<VmSpec>) => Promise<Started>,
  awaitGuest: (serial: SerialClient) => Promise<void>,
): void => {
  const asked = async (handle: VmHandle, change: Partial<CoreDumping> = {}): Promise<CoreDumping> => {
    const folder = join(handle.logDir, 'dumps');
    await mkdir(folder, { recursive: true });
    return {
      format: 'elf',
      path: join(folder, 'core'),
      limit: 512 * 1024 * 1024,
      progress: () => undefined,
      signal: never,
      ...change,
    };
  };
  /** One that dumps, by what its driver says of itself; of the others it is seen that they refuse, and null comes. */
  const begin = async (spec = specOf()): Promise<Started | null> => {
    const started = await start(spec);
    const { driver, handle, serial } = started;
    await awaitGuest(serial);
    if ((await driver.probe()).capabilities.includes('core-dump')) return started;
    const dumping = await asked(handle);
    const refusal = { name: 'VerbFailure', code: 'no_core_dump', permanent: true };
    await expect(driver.coreDump(handle, dumping)).rejects.toMatchObject(refusal);
    expect(await driver.settleCoreDump(handle, never)).toBe('running');
    expect(await readdir(join(handle.logDir, 'dumps'))).toEqual([]);
    await awaitGuest(serial);
    return null;
  };
  const ownFiles = async (handle: VmHandle): Promise<string[]> =>
    (await readdir(handle.runDir, { recursive: true })).filter((name) => /core|dump/.test(name));

  it('dumps the memory of one that runs: an ELF core of all of it, and the guest goes on', async () => {
    const spec = specOf();
    const begun = await begin(spec);
    if (!begun) return;
    const { driver, handle, serial } = begun;
    const dumping = await asked(handle);
    await driver.coreDump(handle, dumping);
    if ((await driver.settleCoreDump(handle, never)) === 'paused') await driver.resume(handle);
    expect(await driver.state(handle)).toBe('running');
    await awaitGuest(serial);
    const memory = segments(dumping.path).filter(({ physical }) => physical < spec.memoryBytes);
    expect(memory[0]?.physical).toBe(0);
    expect(memory.some(({ physical, bytes }) => physical + bytes === spec.memoryBytes)).toBe(true);
    // A PC has a hole below the first mebibyte.
    const covered = memory.reduce((sum, { bytes }) => sum + bytes, 0);
    expect(covered).toBeGreaterThanOrEqual(spec.memoryBytes - 384 * 1024);
    const file = await stat(dumping.path);
    expect([file.uid, file.mode & 0o777]).toEqual([0, 0o600]);
    expect(file.size).toBeGreaterThan(covered);
    expect(await ownFiles(handle)).toEqual([]);
    // The simulated guest has no memory; others run from what is searched for.
    if (subject().keepsMemory === true) expect((await readFile(dumping.path)).includes(guestCode)).toBe(true);
    // And again, into the same place.
    await rm(dumping.path);
    await driver.coreDump(handle, dumping);
    await driver.settleCoreDump(handle, never);
  });

  it('dumps one that stands still, which goes on standing still', async () => {
    const begun = await begin();
    if (!begun) return;
    const { driver, handle, serial } = begun;
    await driver.pause(handle);
    const dumping = await asked(handle);
    await driver.coreDump(handle, dumping);
    expect(await driver.settleCoreDump(handle, never)).toBe('paused');
    expect(segments(dumping.path).length).toBeGreaterThan(0);
    await driver.resume(handle);
    await awaitGuest(serial);
  });

  it('dumps compressed where it can, and otherwise says so before anything is touched', async () => {
    const begun = await begin();
    if (!begun) return;
    const { driver, handle, serial } = begun;
    const dumping = await asked(handle, { format: 'kdump-zlib' });
    const outcome = await driver.coreDump(handle, dumping).catch((error: unknown) => error);
    expect(await driver.settleCoreDump(handle, never)).toBe('running');
    if (outcome === undefined) {
      const file = await open(dumping.path);
      const head = (await file.read(Buffer.alloc(12), 0, 12, 0)).buffer.toString();
      await file.close();
      expect(head).toBe('makedumpfile');
      expect((await stat(dumping.path)).size).toBeLessThan(specOf().memoryBytes / 8);
    } else {
      expect(outcome).toMatchObject({ code: 'no_core_dump', permanent: true });
      expect(await readdir(join(handle.logDir, 'dumps'))).toEqual([]);
    }
    await awaitGuest(serial);
  });

  it('goes on with its guest when the dump is ended, when it is too long, and when it cannot be written', async () => {
    const begun = await begin();
    if (!begun) return;
    const { driver, handle, serial } = begun;
    const ended = new AbortController();
    // Cloud Hypervisor's cannot be ended; whoever waits for it no more sees it out.
    const dumpings = [
      await asked(handle, { signal: ended.signal, progress: () => ended.abort() }),
      await asked(handle, { limit: 1024 * 1024 }),
      await asked(handle, { path: join(handle.logDir, 'nowhere', 'core') }),
    ];
    for (const dumping of dumpings) {
      await driver.coreDump(handle, dumping).catch(() => undefined);
      if ((await driver.settleCoreDump(handle, never)) === 'paused') await driver.resume(handle);
      expect(await driver.state(handle)).toBe('running');
      await rm(dumping.path, { force: true });
      await awaitGuest(serial);
    }
    expect(await ownFiles(handle)).toEqual([]);
    await driver.coreDump(handle, await asked(handle));
    await driver.settleCoreDump(handle, never);
  });

  it('says so when its machine ends meanwhile, and has it seen as ended', async () => {
    if (!subject().hasProcesses) return;
    const begun = await begin();
    if (!begun) return;
    const { driver, handle } = begun;
    const dumping = await asked(handle, { progress: () => signalProcess(handle.process, 'SIGKILL') });
    await driver
      .coreDump(handle, dumping)
      .catch((error: unknown) => expect(error).toMatchObject({ name: 'VerbFailure' }));
    await waitFor('its end', () => !isRunning(handle.process));
    expect(await driver.settleCoreDump(handle, never)).toBe('stopped');
  });
};
