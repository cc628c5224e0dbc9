import { existsSync } from 'node:fs';
import type { ScenarioCloud } from '../../../core/testing/scenario';

/** Whether the host of the tests, whose pool keeps names only, has the volume. */
export const hasVolumeFile = (cloud: ScenarioCloud, id: string): boolean =>
  existsSync(cloud.hostPath('pools', 'default', `${id}.name`));
