import type { RemoteSpec, StepContext, TxContext, TxStep } from '../../../core/workflow/definition/definition';
import { certain, type Known } from '../../../core/workflow/definition/fragment';
import type { InstancePort, InstancePorts, WantedNic } from './network.ports';
import { networkApply, type HostNetworkDocument, type NetworkApplyResult } from './network.verbs';

interface OfInstance {
  instanceId: string;
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

/** The host gets the ports that were allocated to the instance; undone, they are gone from it, and free. */
export const attachPorts = <I extends OfInstance, O>(
  ports: InstancePorts,
  host: Known<I, O, string>,
): ApplyStep<I, O> => ({
  ...comesToItsDocument(ports, host),
  args: (c) => ports.document(c.op, certain(host, c), c.input.instanceId),
  undo: {
    verb: networkApply,
    node: host,
    args: async (c) => {
      await ports.release(c.op, c.input.instanceId);
      return ports.document(c.op, certain(host, c));
    },
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
