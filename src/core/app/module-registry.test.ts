import { sortModules } from './module-registry';

const manifest = (name: string, ...needs: string[]) => ({ name, needs });
const names = (...modules: ReturnType<typeof manifest>[]): string[] => sortModules(modules).map((m) => m.name);

describe('sortModules', () => {
  it('puts every module after what it needs', () =>
    expect(names(manifest('compute', 'network', 'host'), manifest('network', 'host'), manifest('host'))).toEqual([
      'host',
      'network',
      'compute',
    ]));
  it('names both ends of a missing need', () =>
    expect(() => names(manifest('compute', 'netwrok'))).toThrow(
      'module "compute" needs "netwrok", which does not exist',
    ));
  it('shows the whole circle', () =>
    expect(() => names(manifest('a', 'b'), manifest('b', 'c'), manifest('c', 'a'))).toThrow('a → b → c → a'));
  it('refuses a name twice', () =>
    expect(() => names(manifest('a'), manifest('a'))).toThrow('"a" is registered twice'));
});
