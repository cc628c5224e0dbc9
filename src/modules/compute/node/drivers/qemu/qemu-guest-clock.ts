import { join } from 'node:path';
import { z } from 'zod';
import { socketFolder } from '../common/vmm-files';
import type { VmHandle } from '../vmm-driver';
import { GuestAgent } from './guest-agent';
import { agentChannel, qemuSockets } from './qemu-arguments';
import type { QmpClient } from './qmp-client';

/** Milliseconds. A guest that has just gone on has other things to do too. */
const deadlineMs = 10_000;
/** Milliseconds by which the guest's clock may differ then: it is asked after it was set. */
const rightWithinMs = 1000;
const nanoseconds = 1_000_000;

const channels = z.array(z.looseObject({ label: z.string(), 'frontend-open': z.boolean() }));

/** An agent in the guest has opened its channel. One that a suspended guest had open is open when it goes on. */
export const agentListens = async (qmp: QmpClient): Promise<boolean> =>
  channels
    .parse(await qmp.execute('query-chardev'))
    .some((channel) => channel.label === agentChannel && channel['frontend-open']);

/**
 * Gives a guest whose agent listens its host's time, and resolves once it has that. Holds no monitor meanwhile, for an
 * agent may take its time, and others ask for the machine's state. Rejects when the agent does not do it.
 */
export const setGuestClock = async (handle: Pick<VmHandle, 'runDir' | 'user'>): Promise<void> => {
  await GuestAgent.converse(join(socketFolder(handle), qemuSockets.agent), handle.user, deadlineMs, async (agent) => {
    // It fails too when the clock is set and only the hardware's, which is right anyway, could not be written.
    const failed = await agent.execute('guest-set-time', { time: Date.now() * nanoseconds }).then(
      () => '',
      (error: Error) => error.message,
    );
    const asked = Date.now();
    const now = z.number().parse(await agent.execute('guest-get-time')) / nanoseconds;
    if (now < asked - rightWithinMs || now > Date.now() + rightWithinMs)
      throw new Error(failed || `its clock is ${Math.round(now - asked)} ms off`);
  });
};
