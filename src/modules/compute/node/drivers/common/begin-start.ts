import { RunFiles } from './run-files';
import { makeSocketFolder } from './vmm-files';
import type { VmSpec } from '../vmm-driver';

/**
 * Makes the folders of a start while `checks` finds out whether it is possible. When it is not, those that were not
 * there before are gone again and the checks' error is thrown; nothing else was touched.
 */
export const beginStart = async (spec: VmSpec, checks: Promise<unknown>): Promise<RunFiles> => {
  let files: RunFiles | null = null;
  try {
    // Done at once, while the checks wait for their answers.
    files = RunFiles.prepare(spec.runDir, spec.logDir);
    makeSocketFolder(spec);
    await checks;
    return files;
  } catch (error) {
    await checks.catch(() => undefined);
    await files?.rollback();
    throw error;
  }
};
