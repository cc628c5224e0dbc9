import type { Socket } from 'node:net';
import type { VmHandle } from '../vmm-driver';
import { notedCid } from './qemu-vsock';
import { dialCid } from './qemu-vsock-dial';

/** The streams that are open to ports of guests. */
export class QemuVsocks {
  private readonly streams = new Map<string, Set<Socket>>();

  /** Throws as `dialCid`. */
  async connect(handle: VmHandle, port: number): Promise<Socket> {
    const { instanceId, user } = handle;
    const socket = await dialCid(await notedCid(handle), port, user);
    const open = this.streams.get(instanceId) ?? new Set();
    this.streams.set(instanceId, open.add(socket));
    socket.once('close', () => {
      open.delete(socket);
      if (open.size === 0 && this.streams.get(instanceId) === open) this.streams.delete(instanceId);
    });
    return socket;
  }

  /** Its guest begins anew and knows none of them: the kernel tells that only to who sends something. */
  end({ instanceId }: Pick<VmHandle, 'instanceId'>): void {
    for (const socket of this.streams.get(instanceId) ?? []) socket.destroy();
  }
}
