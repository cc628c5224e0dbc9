import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { VmmDrivers } from '../drivers/vmm-drivers';
import type { InstanceRecords } from '../instances/instance-records';
import { InstanceVsocks } from './instance-vsocks';

class Stream extends EventEmitter {
  closed = false;
  idleMs = 0;
  setTimeout(ms: number): void {
    this.idleMs = ms;
  }
  end(): void {
    this.closed = true;
    this.emit('close');
  }
}

describe('InstanceVsocks', () => {
  const made: Stream[] = [];
  let fails: Error | null = null;
  const records = {
    refuseLost: () => undefined,
    get: (id: string) =>
      id === 'gone'
        ? undefined
        : {
            handle: id === 'off' ? null : { driver: 'd' },
            spec: { machine: id === 'plain' ? {} : { vsock: true } },
          },
  } as unknown as InstanceRecords;
  const drivers = {
    byKind: () => ({
      vsock: async () => {
        if (fails) throw fails;
        const stream = new Stream();
        made.push(stream);
        return stream as unknown as Socket;
      },
    }),
  } as unknown as VmmDrivers;
  const vsocks = new InstanceVsocks(records, drivers);

  it('refuses what has no guest to reach, and what is no port', async () => {
    for (const [id, code] of [
      ['gone', 'instance_absent'],
      ['off', 'instance_not_running'],
      ['plain', 'no_vsock'],
    ] as const)
      await expect(vsocks.connect(id, 22)).rejects.toMatchObject({ code, permanent: true });
    for (const port of [0, -1, 1.5, 0xffffffff, Number.NaN])
      await expect(vsocks.connect('a', port)).rejects.toMatchObject({ code: 'invalid_port', permanent: true });
    expect(made).toEqual([]);
  });

  it('has 32 streams to a guest at most, and room again for each that ends or was not to be had', async () => {
    fails = new Error('nobody listens');
    for (let n = 0; n < 40; n += 1) await expect(vsocks.connect('a', 22)).rejects.toThrow('nobody listens');
    fails = null;
    for (let n = 0; n < 32; n += 1) await vsocks.connect('a', 22);
    await expect(vsocks.connect('a', 22)).rejects.toMatchObject({ code: 'too_many_guest_streams', permanent: true });
    await vsocks.connect('b', 22);
    made[0]?.end();
    await vsocks.connect('a', 22);
    await expect(vsocks.connect('a', 22)).rejects.toMatchObject({ code: 'too_many_guest_streams' });
    expect(made.every(({ idleMs }) => idleMs === 3_600_000)).toBe(true);
  });
});
