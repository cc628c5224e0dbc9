import type { ModuleManifest } from '../../src/core/app/module-manifest';
import { allModules } from '../../src/modules/all-modules';
import { beaconModule } from '../fixtures/beacon/beacon.module';

/** The product's, and one whose workflow holds several locks over several kinds of steps, with others behind it. */
export const chaosModules: readonly ModuleManifest[] = [...allModules, beaconModule];
