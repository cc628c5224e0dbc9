import { injectable } from 'inversify';
import type { Socket } from 'node:net';
import { VerbFailure } from '../../../../core/m2m/verbs/verb-handler';
import { vsockPort } from '../../contract/compute.api';
import { noVsock } from '../drivers/vmm-driver';
import { VmmDrivers } from '../drivers/vmm-drivers';
import { InstanceRecords } from '../instances/instance-records';

/** Streams to one guest at a time. */
const mostStreams = 32;
/** Milliseconds without a byte in either direction after which a stream ends. */
const idleMs = 3_600_000;

/** Streams to ports of this host's guests. Reads only: no call that works on an instance is waited for. */
@injectable()
export class InstanceVsocks {
  private readonly counts = new Map<string, number>();

  constructor(
    private readonly records: InstanceRecords,
    private readonly drivers: VmmDrivers,
  ) {}

  /**
   * Throws `VerbFailure` `instance_absent`, `instance_not_running`, `no_vsock`, `too_many_guest_streams`, and what the driver
   * answers.
   */
  async connect(instanceId: string, port: number): Promise<Socket> {
    if (!vsockPort.safeParse(port).success) throw new VerbFailure('invalid_port', 'That is no port of a vsock.', true);
    this.records.refuseLost(instanceId);
    const record = this.records.get(instanceId);
    if (!record) throw new VerbFailure('instance_absent', 'This host does not have the instance.', true);
    const { handle, spec } = record;
    if (!handle) throw new VerbFailure('instance_not_running', 'The instance does not run on this host.', true);
    if (spec.machine?.vsock !== true) throw noVsock();
    const streams = this.counts.get(instanceId) ?? 0;
    if (streams >= mostStreams)
      throw new VerbFailure('too_many_guest_streams', `There are ${mostStreams} streams to its guest already.`, true);
    // Counted while it is being opened too.
    this.counts.set(instanceId, streams + 1);
    try {
      const socket = await this.drivers.byKind(handle.driver).vsock(handle, port);
      // Its guest may have ended it meanwhile, which nobody would tell again.
      if (socket.closed) this.release(instanceId);
      else socket.once('close', () => this.release(instanceId));
      socket.setTimeout(idleMs, () => socket.destroy());
      return socket;
    } catch (error) {
      this.release(instanceId);
      throw error;
    }
  }

  private release(instanceId: string): void {
    const left = (this.counts.get(instanceId) ?? 1) - 1;
    if (left > 0) this.counts.set(instanceId, left);
    else this.counts.delete(instanceId);
  }
}
