import { dirname } from 'node:path';
import type { VmmSandboxOptions } from '../../../src/modules/compute/node/drivers/common/vmm-sandbox';

const first = 1_900_000_000;

/** A user that the VMMs under test run as. */
export const testUser = first + 16;

/** What their drivers are told. Node is read for the simulated program, wherever it was installed. */
export const testSandbox: VmmSandboxOptions = {
  trialUser: first + 2,
  tapGroup: first + 3,
  readOnlyPaths: [dirname(process.execPath)],
};
