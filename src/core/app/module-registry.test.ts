import { sortModules } from './module-registry';

const module = (name: string, ...needs: string[]) => ({ name, needs });
const names = (...modules: ReturnType<typeof module>[]): string[] => sortModules(modules).map((m) => m.name);

describe('sortModules', () => {
  it('puts every module after what it needs', () => expect(names(module('compute', 'network', 'host'), module('network', 'host'), module('host'))).toEqual(['host', 'network', 'compute']));
  it('names both ends of a missing need', () => expect(() => names(module('compute', 'netwrok'))).toThrow('module "compute" needs "netwrok", which does not exist'));
  it('shows the whole circle', () => expect(() => names(module('a', 'b'), module('b', 'c'), module('c', 'a'))).toThrow('a → b → c → a'));
  it('refuses a name twice', () => expect(() => names(module('a'), module('a'))).toThrow('"a" is registered twice'));
});
