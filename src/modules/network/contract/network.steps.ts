import type { RemoteSpec, StepContext, TxContext, TxStep } from '../../../core/workflow/definition/definition';
import { certain, type Known } from '../../../core/workflow/definition/fragment';
import type { InstancePort, InstancePorts, WantedNic } from './network.ports';
import { type HostNetworkDocument } from './host-document';
import { networkApply, type NetworkApplyResult } from './network.verbs';

interface OfInstance {
  instanceId: string;
}

/** What is about one card of an instance. */
interface OfPort extends OfInstance {
  portId: string;
}

type ApplyStep<I, O> = RemoteSpec<I, O, HostNetworkDocument, NetworkApplyResult>;

/** A port for each card of the instance. Others on the same network wait from here until the commit. */
export const allocatePorts = <I extends OfInstance, O>(
  ports: InstancePorts,
  wanted: Known<I, O, { projectId: string; hostname: string; hostId: string; nics: WantedNic[] }>,
): TxStep<I, O, { portIds: InstancePort['id'][] }> => ({
  title: 'Allocate addresses',
  commitAtOnce: true,
  run: async (c) => {
    const { projectId, hostname, hostId, nics } = certain(wanted, c);
    const { instanceId } = c.input;
    const made = await ports.allocate(c.op, { instanceId, projectId, hostname, hostId, nics });
    return { portIds: made.map((port) => port.id) };
  },
  undo: (c) => ports.release(c.op, c.input.instanceId),
});

/** One more port of an instance that has its others. As `allocatePorts`. */
export const addPort = <I extends OfPort, O>(
  ports: InstancePorts,
  wanted: Known<I, O, { projectId: string; hostname: string; hostId: string }>,
  nic: (input: I) => WantedNic,
): TxStep<I, O, { portId: string }> => ({
  title: 'Allocate an address',
  commitAtOnce: true,
  run: async (c) => {
    const { projectId, hostname, hostId } = certain(wanted, c);
    const { instanceId, portId } = c.input;
    await ports.add(c.op, { portId, instanceId, projectId, hostname, hostId, nic: nic(c.input) });
    return { portId };
  },
  undo: (c) => ports.release(c.op, c.input.instanceId, c.input.portId),
});

/** The host comes to its present document. */
const comesToItsDocument = <I, O>(ports: InstancePorts, host: Known<I, O, string>) => ({
  title: 'Apply the network on the host',
  verb: networkApply,
  node: (c: StepContext<I, O>) => certain(host, c),
  args: (c: TxContext<I, O>) => ports.document(c.op, certain(host, c)),
});

/** The host comes to its present document; `noUndo`: why nothing is to be taken back. */
export const applyNetwork = <I, O>(
  ports: InstancePorts,
  host: Known<I, O, string>,
  noUndo: string,
): ApplyStep<I, O> => ({
  ...comesToItsDocument(ports, host),
  noUndo,
});

/** The host's document once the instance's ports, or the one that the task is about, are gone from it, and free. */
const released =
  <I extends OfInstance & Partial<OfPort>, O>(ports: InstancePorts, host: Known<I, O, string>) =>
  async (c: TxContext<I, Partial<O>>): Promise<HostNetworkDocument> => {
    await ports.release(c.op, c.input.instanceId, c.input.portId);
    return ports.document(c.op, certain(host, c));
  };

/**
 * The host gets the ports that were allocated to the instance; undone, they are gone from it, and free: all of them, or
 * the one that the task is about.
 */
export const attachPorts = <I extends OfInstance & Partial<OfPort>, O>(
  ports: InstancePorts,
  host: Known<I, O, string>,
): ApplyStep<I, O> => ({
  ...comesToItsDocument(ports, host),
  args: (c) => ports.document(c.op, certain(host, c), { attach: c.input.instanceId }),
  undo: { verb: networkApply, node: host, args: released(ports, host) },
});

/**
 * One port of the instance is gone from the host, and stays the instance's: undone, it is on the host again. A host that
 * is lost comes to its document when it is back.
 */
export const detachPort = <I extends OfPort, O>(ports: InstancePorts, host: Known<I, O, string>): ApplyStep<I, O> => ({
  title: 'Remove its port from the host',
  verb: networkApply,
  node: (c) => certain(host, c),
  args: (c) => ports.document(c.op, certain(host, c), { detach: c.input.portId }),
  tolerateLostNode: true,
  undo: {
    verb: networkApply,
    node: host,
    args: (c) => ports.document(c.op, certain(host, c), { attach: c.input.instanceId }),
  },
});

/** The instance's ports are gone from the host, and free. Skipped without a host; one that is lost does so when it is back. */
export const detachPorts = <I extends OfInstance, O>(
  ports: InstancePorts,
  host: Known<I, O, string>,
  noUndo: string,
): ApplyStep<I, O> => ({
  title: 'Remove its ports from the host',
  verb: networkApply,
  when: (c) => host(c) !== undefined,
  node: (c) => certain(host, c),
  args: async (c) => {
    await ports.release(c.op, c.input.instanceId);
    return ports.document(c.op, certain(host, c));
  },
  tolerateLostNode: true,
  noUndo,
});
