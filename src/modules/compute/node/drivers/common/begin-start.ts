import { together } from '../../../../../core/host/together';
import { RunFiles } from './run-files';
import { makeSocketFolder } from './vmm-files';
import type { VmSpec } from '../vmm-driver';

/**
 * Makes the folders of a start while `checks` finds out whether it is possible. When it is not, those that were not
 * there before are gone again and the checks' error is thrown; nothing else was touched.
 */
export const beginStart = async (spec: VmSpec, checks: Promise<unknown>): Promise<RunFiles> => {
  const made = RunFiles.prepare(spec.runDir, spec.logDir);
  try {
    const [files] = await together(
      made,
      checks,
      made.then(() => makeSocketFolder(spec)),
    );
    return files;
  } catch (error) {
    await made.then(
      (files) => files.rollback(),
      () => undefined,
    );
    throw error;
  }
};
