/**
 * Puts the conformance cases to the simulated VMM's process as each release behaves, or to a real Cloud Hypervisor:
 *
 *     npm run conformance                      the simulations, and a real one named by VC_CLOUD_HYPERVISOR or on the PATH
 *     npm run conformance -- --binary PATH     that program only
 *
 * Names what is skipped and what fails; the last line is `conformance: N passed, N failed, N skipped`.
 */
import { accessSync, constants } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runCounted } from '../support/counted-project.mjs';

const { binary } = parseArgs({ options: { binary: { type: 'string' } } }).values;
if (binary !== undefined) {
  try {
    accessSync(resolve(binary), constants.X_OK);
  } catch (error) {
    console.error(`conformance: ${error.message}`);
    process.exit(2);
  }
}

process.exit(
  await runCounted('conformance', {
    patterns: `test/conformance/${binary === undefined ? '' : 'binary'}`,
    workers: 2,
    env: binary === undefined ? {} : { VC_CLOUD_HYPERVISOR: resolve(binary) },
  }),
);
