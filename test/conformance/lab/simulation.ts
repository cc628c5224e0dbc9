import type { VersionProfile } from '../../../src/modules/compute/node/drivers/simulated-vmm/profile';
import { pvhGuest } from '../../integration/compute/pvh-guest';
import { SimulatedBinary } from '../../integration/compute/simulated-binary';
import { conform } from './conform';
import { needs, type Need } from './subject';

/** Puts all cases to the process of the simulated VMM, as it behaves in one release. */
export const conformSimulation = (version: VersionProfile['name']): void => {
  const binary = new SimulatedBinary();
  afterAll(() => binary.remove());
  const programs = new Map<string, string>();
  conform({
    name: `simulation of ${version}`,
    version,
    program: (knobs) => {
      const key = JSON.stringify(knobs);
      const path = programs.get(key) ?? binary.program(`ch-${programs.size}`, { version, ...knobs });
      programs.set(key, path);
      return path;
    },
    guest: pvhGuest(),
    can: new Set(Object.keys(needs) as Need[]),
  });
};
