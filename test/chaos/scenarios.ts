import { scenariosOf } from '../../src/core/app/declarations';
import type { Scenarios } from '../../src/core/testing/scenario';
import { chaosModules } from './modules';

/** Of all modules. A workflow that is registered and has none fails the run. */
export const loadScenarios = (): Promise<Scenarios> => scenariosOf(chaosModules);
