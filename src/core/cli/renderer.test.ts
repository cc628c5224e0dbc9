import { renderOne, renderRows } from './renderer';

const rows = [
  { id: '1', name: 'web', state: 'running' },
  { id: '2', name: 'database', state: '' },
];
const columns = [
  { header: 'name', value: (r: (typeof rows)[number]) => r.name },
  { header: 'state', value: (r: (typeof rows)[number]) => r.state },
  { header: 'id', value: (r: (typeof rows)[number]) => r.id, wide: true },
];

describe('renderRows', () => {
  it('aligns columns without borders', () => {
    expect(renderRows(rows, columns, 'table')).toBe('NAME       STATE\nweb        running\ndatabase   -\n');
    expect(renderRows(rows, columns, 'wide')).toBe('NAME       STATE     ID\nweb        running   1\ndatabase   -         2\n');
    expect(renderRows([], columns, 'table')).toBe('');
  });

  it('gives programs what they can read', () => {
    expect(JSON.parse(renderRows(rows, columns, 'json'))).toEqual(rows);
    expect(renderRows(rows, columns, 'yaml')).toBe('- id: "1"\n  name: web\n  state: running\n- id: "2"\n  name: database\n  state: ""\n');
    expect(renderRows(rows, columns, 'name')).toBe('web\ndatabase\n');
    expect(renderRows([], columns, 'json')).toBe('[]\n');
  });

  it('lets no cell move the cursor', () => {
    expect(renderRows([{ id: '1', name: 'a\u001b[2Jb\nc', state: 'x' }], columns, 'table')).not.toMatch(/\u001b|b\nc/);
  });
});

describe('renderOne', () => {
  it('writes a line per member, sizes and times readable', () => {
    const text = renderOne({ name: 'web', memoryBytes: 268_435_456, startedAt: null, flavor: { name: 'tiny' }, ports: [{ address: '10.0.0.2' }], keys: ['a', 'b'], none: [], admin: false }, 'table');
    expect(text.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['name', 'web'],
      ['memoryBytes', '256 MiB'],
      ['startedAt', '-'],
      ['flavor.name', 'tiny'],
      ['ports.0.address', '10.0.0.2'],
      ['keys', 'a, b'],
      ['none', '-'],
      ['admin', 'false'],
      [''],
    ]);
    expect(JSON.parse(renderOne({ a: 1 }, 'json'))).toEqual({ a: 1 });
    expect(renderOne({ id: 'x', userName: 'anna' }, 'name')).toBe('anna\n');
  });
});
