import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { VerbFailure } from '../../../../../core/m2m/verbs/verb-handler';
import { checkMemoryStep, checkVcpus } from '../common/resize-checks';
import { resizeHeld, resizeNeedsStop, type VmSize } from '../vmm-driver';
import type { ChClient } from './ch-client';
import { chMemoryConfig } from './ch-memory-config';
import { ChError } from './ch-error';

const configSchema = z.object({
  cpus: z.object({ boot_vcpus: z.number().int(), max_vcpus: z.number().int() }),
  memory: chMemoryConfig,
});

const configOf = async (client: ChClient): Promise<z.infer<typeof configSchema>> => {
  const info = await client.info();
  if (!info) throw new VerbFailure('not_running', 'The VM is not running.', true);
  return configSchema.parse(info.config);
};

/** As its configuration has it, which follows what was asked for last. */
export const chSize = async (client: ChClient): Promise<VmSize> => {
  const { cpus, memory } = await configOf(client);
  return { vcpus: cpus.boot_vcpus, memoryBytes: memory.size };
};

const takesNoMemory = (): VerbFailure => resizeNeedsStop('Cloud Hypervisor takes memory back at the next start only');

/** Throws `resize_needs_stop`. */
export const checkChResize = async (client: ChClient, size: VmSize): Promise<void> => {
  const { cpus, memory } = await configOf(client);
  const now = { vcpus: cpus.boot_vcpus, memoryBytes: memory.size };
  checkVcpus(size.vcpus, cpus.max_vcpus);
  if (size.memoryBytes < now.memoryBytes) throw takesNoMemory();
  checkMemoryStep(now, size.memoryBytes);
  if (size.memoryBytes > now.memoryBytes && !memory.hotplug_size)
    throw resizeNeedsStop('its machine was started with no room for more memory');
};

/**
 * More are there when it answers. Fewer are gone once the guest has ejected them: until then it refuses the same request
 * as pending (429), and afterwards it has nothing to do.
 */
export const setChVcpus = async (
  client: ChClient,
  vcpus: number,
  deadlineMs: number,
  signal: AbortSignal,
): Promise<void> => {
  const asks = async (): Promise<boolean> => {
    try {
      await client.resize({ desired_vcpus: vcpus });
      return true;
    } catch (error) {
      if (error instanceof ChError && error.status === 429) return false;
      throw error;
    }
  };
  const end = Date.now() + deadlineMs;
  const fewer = vcpus < (await chSize(client)).vcpus;
  // The first request of a decrease is only taken; the one after it says what became of it.
  if (fewer) await asks();
  for (let pause = 20; !(await asks()); pause = Math.min(2 * pause, 500)) {
    if (Date.now() >= end) throw resizeHeld('give its vCPUs back');
    await delay(pause, undefined, { signal });
  }
  const { vcpus: has } = await chSize(client);
  if (has !== vcpus) throw new VerbFailure('vmm_refused', `The VM has ${has} vCPUs instead of ${vcpus}.`, false);
};

/** The VM has it when it answers; what its guest makes of it is not told. */
export const setChMemory = async (client: ChClient, bytes: number): Promise<void> => {
  const now = await chSize(client);
  if (now.memoryBytes === bytes) return;
  // It would say that it had less, and have it until its guest restarts.
  if (now.memoryBytes > bytes) throw takesNoMemory();
  await client.resize({ desired_ram: bytes }).catch((error: unknown) => {
    if (!(error instanceof ChError)) throw error;
    if (error.says('Not enough space in the hotplug RAM region'))
      throw resizeNeedsStop('its machine was started with less room for memory', error);
    if (error.says('No ACPI slot available'))
      throw resizeNeedsStop('its memory grew eight times since it was started, which is as often as it can', error);
    throw error;
  });
  const { memoryBytes } = await chSize(client);
  if (memoryBytes !== bytes)
    throw new VerbFailure('vmm_refused', `The VM has ${memoryBytes} bytes of memory instead of ${bytes}.`, false);
};
