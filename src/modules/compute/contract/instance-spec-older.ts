import { NotUnderstood } from '../../../core/m2m/verbs/not-understood';
import type { OlderForm } from '../../../core/m2m/verbs/verb';
import { instanceSpec } from './instance-spec';

const ofRestartPolicy = instanceSpec.pick({ restartPolicy: true });
/** An agent of before would take it for `never`, and say nothing. */
const withoutRestartPolicy: OlderForm = (args) => {
  const { restartPolicy } = ofRestartPolicy.parse(args['spec']);
  if (restartPolicy === 'on-failure') throw new NotUnderstood("the instance's restart policy");
  return args;
};

/** An agent of before would start a machine without. */
const withoutMachine: OlderForm = (args) => {
  const { machine } = instanceSpec.pick({ machine: true }).parse(args['spec']);
  if (machine !== undefined) throw new NotUnderstood("options of the instance's machine");
  return args;
};

/** An agent of before would leave the watchdog out, and do what it always does about a panic. */
const withoutPolicies: OlderForm = (args) => {
  const { machine = {} } = instanceSpec.pick({ machine: true }).parse(args['spec']);
  if (machine.watchdog !== undefined || machine.panic !== undefined)
    throw new NotUnderstood('watchdogs and panic policies');
  return args;
};

/** An agent of before would start it again after a restart of its host. */
const withoutRescue: OlderForm = (args) => {
  const { rescue } = instanceSpec.pick({ rescue: true }).parse(args['spec']);
  if (rescue === true) throw new NotUnderstood('instances in rescue');
  return args;
};

/** An agent of before would keep them for the life of the machine, and where other instances find them too. */
const withoutDataVolumes: OlderForm = (args) => {
  // A placement asks with what it knows of the specification, which is no disks.
  const { disks = [] } = instanceSpec.pick({ disks: true }).partial().parse(args['spec']);
  if (disks.some(({ detachable }) => detachable === true)) throw new NotUnderstood('data volumes of instances');
  return args;
};

/** An agent of before would boot whatever is on the disk. */
const withoutKernel: OlderForm = (args) => {
  const { kernel } = instanceSpec.pick({ kernel: true }).parse(args['spec']);
  if (kernel !== undefined) throw new NotUnderstood('instances that boot by a kernel of their image');
  return args;
};

/** An agent of before would start a machine without room to grow. */
const withoutMax: OlderForm = (args) => {
  const { max } = instanceSpec.pick({ max: true }).parse(args['spec']);
  if (max !== undefined) throw new NotUnderstood('instances that get more vCPUs or memory while they run');
  return args;
};

/** An agent of before would let it take all that its host can give. */
const withoutLimits: OlderForm = (args) => {
  const { limits } = instanceSpec.pick({ limits: true }).parse(args['spec']);
  if (limits !== undefined) throw new NotUnderstood('rate limits of disks and cards');
  return args;
};

/** An agent of before would make its memory and its vCPUs as it makes all. */
const withoutHardware: OlderForm = (args) => {
  const { hardware } = instanceSpec.pick({ hardware: true }).parse(args['spec']);
  if (hardware !== undefined) throw new NotUnderstood('what the hardware of instances is');
  return args;
};

/** An agent of before would leave the balloon out. */
const withoutBalloon: OlderForm = (args) => {
  const { machine } = instanceSpec.pick({ machine: true }).parse(args['spec']);
  if (machine?.balloon === true) throw new NotUnderstood('instances with a balloon');
  return args;
};

/** An agent of before would let it share. */
const withoutDedicatedCpus: OlderForm = (args) => {
  const { dedicatedCpus } = instanceSpec.pick({ dedicatedCpus: true }).parse(args['spec']);
  if (dedicatedCpus !== undefined) throw new NotUnderstood('CPUs that an instance has for itself');
  return args;
};

/** An agent of before would leave the way into its guest out. */
const withoutVsock: OlderForm = (args) => {
  const { machine } = instanceSpec.pick({ machine: true }).parse(args['spec']);
  if (machine?.vsock === true) throw new NotUnderstood('instances with a vsock');
  return args;
};

/** An agent of before would leave them out. */
const withoutShares: OlderForm = (args) => {
  const { shares } = instanceSpec.pick({ shares: true }).parse(args['spec']);
  if (shares !== undefined) throw new NotUnderstood('instances with shares');
  return args;
};

/** What each revision of a specification's verb brought, and what is refused where an agent is of before it. */
export const olderSpecs: Readonly<Record<number, OlderForm>> = {
  2: withoutRestartPolicy,
  3: withoutMachine,
  4: withoutRescue,
  5: withoutDataVolumes,
  6: withoutPolicies,
  7: withoutKernel,
  8: withoutMax,
  9: withoutLimits,
  10: withoutHardware,
  11: withoutBalloon,
  12: withoutDedicatedCpus,
  13: withoutVsock,
  14: withoutShares,
};
