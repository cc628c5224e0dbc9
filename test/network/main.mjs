/**
 * What networks promise, tried with packets: hosts are network namespaces on one underlay, each with an agent of its own
 * that joined by token. As root, after `npm run build:server`:
 *
 *     npm run test:network                       everything
 *     npm run test:network -- --only paths       only files whose name has that in it
 *
 * Names what is skipped and what fails; the last line is `network: N passed, N failed, N skipped`.
 */
import { parseArgs } from 'node:util';
import { runCounted } from '../support/counted-project.mjs';

const { only } = parseArgs({ options: { only: { type: 'string', default: '' } } }).values;

process.exit(await runCounted('network', { patterns: `test/network/.*${only}`, workers: 1 }));
