import { probeCh, type ChProbeOptions } from '../../../src/modules/compute/node/drivers/cloud-hypervisor/ch-probe';

/** Makes a trial, to be killed in the midst of it. Its argument: the options, as JSON. */
void probeCh(JSON.parse(process.argv[2] ?? '') as ChProbeOptions);
