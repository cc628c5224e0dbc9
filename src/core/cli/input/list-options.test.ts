import type { CliColumn } from '../output/cli-column';
import { pickColumns, searchOf, shapeRows, type ListOptions } from './list-options';

interface Row {
  name: string;
  state: string;
  bytes: number;
  flavor: { vcpus: number };
}
const rows: Row[] = [
  { name: 'web-10', state: 'running', bytes: 2 ** 30, flavor: { vcpus: 2 } },
  { name: 'web-9', state: 'stopped', bytes: 2 ** 28, flavor: { vcpus: 16 } },
  { name: 'db', state: 'running', bytes: 2 ** 31, flavor: { vcpus: 4 } },
];
const columns: CliColumn<Row>[] = [
  { header: 'name', value: (r) => r.name },
  { header: 'state', value: (r) => r.state },
  { header: 'root disk', value: (r) => `${r.bytes / 2 ** 20} MiB`, raw: (r) => r.bytes, wide: true },
];
const names = (options: ListOptions): string[] => shapeRows(rows, columns, options).map((r) => r.name);

describe('--filter', () => {
  it.each([
    [['state=running'], ['web-10', 'db']],
    [['STATE=Running'], ['web-10', 'db']],
    [['state!=running'], ['web-9']],
    [['name=web-*'], ['web-10', 'web-9']],
    [['name=web'], []],
    [['web'], ['web-10', 'web-9']],
    [['web', 'state=running'], ['web-10']],
    [['root-disk>1GiB'], ['db']],
    [['root disk<1GiB'], ['web-9']],
    [['root_disk=1GiB'], ['web-10']],
    [['flavor.vcpus>2'], ['web-9', 'db']],
    [['flavor.vcpus=4'], ['db']],
    [['name=.*'], []],
  ])('%j leaves %j', (filter, left) => expect(names({ filter })).toEqual(left));

  it('leaves the first text to the server, and no comparison', () => {
    expect(searchOf({ filter: ['state=running', 'web', 'db'] })).toEqual({ q: 'web' });
    expect(searchOf({})).toEqual({});
  });
});

describe('--sort', () => {
  it('orders names as people count, sizes by size, either way', () => {
    expect(names({ sort: 'name' })).toEqual(['db', 'web-9', 'web-10']);
    expect(names({ sort: '-name' })).toEqual(['web-10', 'web-9', 'db']);
    expect(names({ sort: 'root-disk' })).toEqual(['web-9', 'web-10', 'db']);
    expect(names({ sort: '-flavor.vcpus' })).toEqual(['web-9', 'db', 'web-10']);
    expect(names({})).toEqual(['web-10', 'web-9', 'db']);
  });
});

describe('columns', () => {
  it('come in the order asked for, members of the object too', () => {
    const picked = pickColumns(rows, columns, { columns: 'flavor.vcpus, name' }, false);
    expect(picked.map((c) => c.header)).toEqual(['flavor.vcpus', 'name']);
    expect(picked.map((c) => rows[0] && c.value(rows[0]))).toEqual(['2', 'web-10']);
    expect(pickColumns(rows, columns, {}, false).map((c) => c.header)).toEqual(['name', 'state']);
  });

  it.each([
    [{ columns: 'nmae' }, '--columns: there is no column "nmae"; did you mean name? There are name, state, root-disk.'],
    [{ sort: 'zzzzzz' }, '--sort: there is no column "zzzzzz". There are name, state, root-disk.'],
    [
      { filter: ['stat=x'] },
      '--filter: there is no column "stat"; did you mean state? There are name, state, root-disk.',
    ],
  ])('that are not there are told: %j', (options: ListOptions, message) => {
    expect(() =>
      options.columns ? pickColumns(rows, columns, options, false) : shapeRows(rows, columns, options),
    ).toThrow(message);
  });
});
