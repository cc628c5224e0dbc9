import { z } from 'zod';
import { VerbFailure } from '../../../../../core/m2m/verbs/verb-handler';
import { balloonTooLarge, noBalloon, type VmMemory } from '../vmm-driver';
import type { ChClient } from './ch-client';
import { chMemoryConfig } from './ch-memory-config';

const configSchema = z.object({
  memory: chMemoryConfig,
  balloon: z.object({ size: z.number().int() }).nullish(),
});

/** Its guest says nothing of itself. Throws `no_balloon`. */
export const chMemory = async (client: ChClient): Promise<VmMemory> => {
  const info = await client.info();
  if (!info) throw new VerbFailure('not_running', 'The VM is not running.', true);
  const { memory, balloon } = configSchema.parse(info.config);
  if (!balloon) throw noBalloon();
  return { bytes: memory.size, heldBytes: info.memory_actual_size ?? memory.size, guest: null };
};

/** Throws `no_balloon`, `balloon_too_large`. */
export const setChBalloon = async (client: ChClient, bytes: number): Promise<void> => {
  const { bytes: has } = await chMemory(client);
  const inflated = Math.max(0, has - bytes);
  // It takes any number, and would not start such a machine.
  if (inflated >= has) throw balloonTooLarge(inflated);
  await client.resize({ desired_balloon: inflated });
};
