import { detachQemuDisk } from './qemu-disks';
import type { QmpClient } from './qmp-client';
import { QmpError } from './qmp-error';

const disk = '6d4b8400-21ad-4584-986a-000000000001';

/** A monitor whose disk is gone, and whose node is held for so many more questions. */
const monitor = (held: number): { qmp: QmpClient; deleted: string[] } => {
  const deleted: string[] = [];
  const execute = (command: string, args: Record<string, string>): Promise<unknown> => {
    if (command === 'qom-list') return Promise.resolve([]);
    const name = args['node-name'] ?? '';
    if (deleted.includes(name)) return Promise.reject(new QmpError('GenericError', `Failed to find node ${name}`));
    if (name.startsWith('data-') && held-- > 0)
      return Promise.reject(new QmpError('GenericError', `Node ${name} is in use`));
    deleted.push(name);
    return Promise.resolve({});
  };
  return { qmp: { execute } as unknown as QmpClient, deleted };
};

describe('a disk that is gone', () => {
  it('has its nodes deleted as soon as QEMU lets go of them', async () => {
    const { qmp, deleted } = monitor(3);
    await detachQemuDisk(qmp, disk, 1000, new AbortController().signal);
    expect(deleted.map((name) => name.split('-')[0])).toEqual(['limit', 'data', 'file']);
    await detachQemuDisk(qmp, disk, 1000, new AbortController().signal);
    expect(deleted.length).toBe(3);
  });

  it('keeps what is refused otherwise an error', async () => {
    const execute = (command: string): Promise<unknown> =>
      command === 'qom-list' ? Promise.resolve([]) : Promise.reject(new QmpError('GenericError', 'no such thing'));
    const qmp = { execute } as unknown as QmpClient;
    await expect(detachQemuDisk(qmp, disk, 1000, new AbortController().signal)).rejects.toThrow('no such thing');
  });
});
