import { SandboxMissing } from '../../../../../core/host/sandbox/sandbox-missing';
import {
  spawnSandboxed,
  type SandboxedProcess,
  type SpawnSandboxedOptions,
} from '../../../../../core/host/sandbox/spawn-sandboxed';
import { VerbFailure } from '../../../../../core/m2m/verbs/verb-handler';

export type SpawnedVmm = SandboxedProcess;

/** Milliseconds between two looks at whether a VMM answers: most do after some ten, so the first looks come quickly. */
export const startPause = (begun: number): number => (Date.now() - begun < 300 ? 3 : 15);

/** Starts a VMM that outlives the agent. Throws a permanent `VerbFailure` `netns_missing` or `sandbox_missing`. */
export const spawnVmm = (
  program: string,
  args: readonly string[],
  options: SpawnSandboxedOptions,
): Promise<SpawnedVmm> =>
  spawnSandboxed(program, args, options).catch((error: unknown) => {
    if (!(error instanceof SandboxMissing)) throw error;
    if (error.message.includes('Cannot open network namespace'))
      throw new VerbFailure(
        'netns_missing',
        'The network namespace is not there.',
        true,
        {},
        { cause: error, detail: error.message },
      );
    throw new VerbFailure(
      'sandbox_missing',
      'The VMM cannot be shut in on this host.',
      true,
      {},
      { cause: error, detail: error.message },
    );
  });
