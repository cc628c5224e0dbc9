import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { VerbFailure } from '../../../../../core/m2m/verbs/verb-handler';
import type { VmSpec } from '../vmm-driver';
import { qemuArguments } from './qemu-arguments';
import { qemuStartFailure } from './qemu-failure';
import { forgetCid, noteCid, notedCid, withCid, withOwnCid } from './qemu-vsock';

const spec = (change: Partial<VmSpec> = {}): VmSpec => ({
  instanceId: '0b8e9d1a-7f7b-4d0e-9a55-2f60c1aabbcc',
  name: 'v',
  vcpus: 1,
  memoryBytes: 256 * 1024 * 1024,
  disks: [],
  nics: [],
  machine: { vsock: true },
  netns: null,
  user: 1_879_048_300,
  runDir: '/run/v',
  logDir: '/log',
  ...change,
});
const taken = (): VerbFailure =>
  qemuStartFailure('qemu: -device x: vhost-vsock: unable to set guest cid: Address already in use', 'exit 1');

describe('the vsock of a QEMU', () => {
  const deviceOf = (args: readonly string[]): unknown =>
    args.filter((arg) => arg.includes('vsock')).map((arg) => JSON.parse(arg) as unknown);

  it('is the device of the kernel with that number, in a place of its own, opened by another', () => {
    expect(deviceOf(qemuArguments(spec(), 'tcg'))).toEqual([]);
    const args = qemuArguments(spec(), 'tcg', null, false, 77);
    expect(deviceOf(args)).toEqual([
      { driver: 'vhost-vsock-pci', id: 'vsock', bus: 'pcie.0', addr: '0x18', 'guest-cid': 77, vhostfd: '7' },
    ]);
    const places = args.flatMap((arg) => /"addr":"([^"]+)"/.exec(arg)?.[1] ?? []);
    expect(new Set(places).size).toBe(places.length);
  });

  it('has its number changed, and nothing else, where a machine goes on', () => {
    const args = qemuArguments(spec(), 'tcg', null, true, 77);
    expect(withCid(args, null)).toEqual(args);
    expect(withCid(args, 78)).toEqual(qemuArguments(spec(), 'tcg', null, true, 78));
  });

  it('has the number of its user, and one by chance where others have that, a few times', async () => {
    const asked: (number | null)[] = [];
    const free = (after: number) => (cid: number | null) => {
      asked.push(cid);
      return asked.length > after ? Promise.resolve('runs') : Promise.reject(taken());
    };
    await expect(withOwnCid(spec(), free(0))).resolves.toBe('runs');
    expect(asked.splice(0)).toEqual([1_879_048_300]);
    await expect(withOwnCid(spec(), free(2))).resolves.toBe('runs');
    const [first, ...others] = asked.splice(0);
    expect([first, others.length, new Set(others).size]).toEqual([1_879_048_300, 2, 2]);
    for (const cid of others) expect(cid).toBeGreaterThan(0xbfffffff);
    await expect(withOwnCid(spec(), free(99))).rejects.toMatchObject({ code: 'vsock_cid_taken', permanent: false });
    expect(asked.splice(0)).toHaveLength(4);
    // Numbers up to 2 are those of hosts.
    await withOwnCid(spec({ user: 0 }), free(0));
    expect(asked.splice(0)[0]).toBeGreaterThan(2);
    await withOwnCid(spec({ machine: {} }), free(0));
    expect(asked).toEqual([null]);
  });

  it('is asked for once where its start fails for another reason', async () => {
    let asked = 0;
    const start = (): Promise<never> => {
      asked += 1;
      return Promise.reject(qemuStartFailure('qemu: no such thing', 'exit 1'));
    };
    await expect(withOwnCid(spec(), start)).rejects.toMatchObject({ code: 'vmm_start_failed' });
    expect(asked).toBe(1);
  });

  it('has its number on record for as long as its machine is there', async () => {
    const runDir = await mkdtemp('/tmp/t-vsock-');
    try {
      await expect(notedCid({ runDir })).rejects.toMatchObject({ code: 'no_vsock' });
      await noteCid(spec({ runDir }), 77);
      await noteCid(spec({ runDir }), 78);
      expect(await notedCid({ runDir })).toBe(78);
      await writeFile(join(runDir, 'vsock.json'), '{"cid":-1}');
      await expect(notedCid({ runDir })).rejects.toThrow();
      await forgetCid({ runDir });
      await forgetCid({ runDir });
      expect(await readdir(runDir)).toEqual([]);
    } finally {
      await rm(runDir, { recursive: true });
    }
  });
});
