import { VerbFailure } from '../../../../../core/m2m/verbs/verb-handler';

/** A guest says that itself. */
export const vsockRefused = (port: number): VerbFailure =>
  new VerbFailure('vsock_refused', `Nothing in its guest listens at port ${port}.`, true);

/** Nobody in a guest without a driver says anything. */
export const vsockSilent = (): VerbFailure =>
  new VerbFailure(
    'vsock_silent',
    'Its guest does not answer: it has no driver for vsock, or has not come up yet.',
    false,
  );
