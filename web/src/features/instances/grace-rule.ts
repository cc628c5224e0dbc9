import { createInstance } from '../../../../src/modules/compute/contract/compute.api';
import { checkWhole } from '../../lib/validate';

/** Of the seconds that a stop waits for the guest. */
export const checkGrace = checkWhole(createInstance.shape.stopGraceSeconds);
