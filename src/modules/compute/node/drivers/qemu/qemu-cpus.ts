import { z } from 'zod';
import { exec } from '../../../../../core/host/processes/exec';
import type { VmSpec } from '../vmm-driver';

/** What runs its vCPUs. */
export type QemuAccel = 'kvm' | 'tcg';

const definitions = z.array(
  z.object({
    name: z.string(),
    'unavailable-features': z.array(z.string()).optional(),
    static: z.boolean().optional(),
  }),
);
/** One line for each answer; greeting and events have no `return`. */
const answer = z.object({ return: definitions });

/** Of what a QEMU said: models of which nothing is missing here. The `static` one has no feature that a guest needs. */
export const wholeModels = (said: string): string[] => {
  for (const line of said.split('\n')) {
    const read = answer.safeParse(parsed(line));
    if (!read.success || read.data.return.length === 0) continue;
    return read.data.return
      .filter((one) => one['unavailable-features']?.length === 0 && one.static !== true)
      .map(({ name }) => name)
      .sort();
  }
  return [];
};

const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
};

const questions = ['qmp_capabilities', 'query-cpu-definitions', 'quit'];

/** Models of CPUs that this QEMU can give with this accelerator, with all that makes them; none when it does not say. */
export const cpuModelsOf = (qemu: string, accel: QemuAccel): Promise<string[]> =>
  exec(
    qemu,
    ['-machine', 'none', '-accel', accel, '-nodefaults', '-no-user-config', '-display', 'none', '-qmp', 'stdio'],
    { timeoutMs: 10_000, input: questions.map((execute) => `${JSON.stringify({ execute })}\n`).join('') },
  ).then(
    ({ stdout }) => wholeModels(stdout),
    () => [],
  );

/** The model of a machine's vCPUs, in QEMU's terms: unless one is asked for, all that there is. */
export const cpuModelOf = ({ hardware }: Pick<VmSpec, 'hardware'>, accel: QemuAccel): string =>
  hardware?.cpuModel ?? (accel === 'kvm' ? 'host' : 'max');

/** A model that was asked for is given whole, or not at all. */
export const cpuArgument = (spec: Pick<VmSpec, 'hardware'>, accel: QemuAccel): string =>
  `${cpuModelOf(spec, accel)}${spec.hardware?.cpuModel === undefined ? '' : ',enforce'}`;
