import { scenariosOf } from '../../src/core/app/declarations';
import type { Scenarios } from '../../src/core/testing/scenario';
import { allModules } from '../../src/modules/all-modules';

/** Of all modules. A workflow that is registered and has none fails the run. */
export const loadScenarios = (): Promise<Scenarios> => scenariosOf(allModules);
