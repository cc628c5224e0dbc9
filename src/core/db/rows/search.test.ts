import { looksLikeAddress, searchCondition } from './search';

const written = (
  q: string,
  columns = { ids: ['id'], texts: ['name'], addresses: ['address'], macs: ['mac'] },
): { sql: string; values: unknown[] } => {
  const values: unknown[] = [];
  return { sql: searchCondition(q, columns, (value) => `$${values.push(value)}`), values };
};

describe('searchCondition', () => {
  it('looks for any part of a text, and takes no character for a pattern', () => {
    expect(written('we_b%\\', { ids: [], texts: ['name'], addresses: [], macs: [] })).toEqual({
      sql: '((name ILIKE $1))',
      values: ['%we\\_b\\%\\\\%'],
    });
  });

  it.each([
    ['list-12345', ['%-12345%', '%list-12345%']],
    ['a_b 0042', ['% 0042%', '%a\\_b 0042%']],
    ['list-123', ['%list-123%']],
    ['list-2026', ['%-2026%', '%list-2026%']],
    ['list12345', ['%12345%', '%list12345%']],
    ['x12345-node-5000', ['%12345%', '%-5000%', '%x12345-node-5000%']],
    ['1111 2222 3333 4444 5555', ['%1111%', '% 2222%', '% 3333%', '% 4444%', '%1111 2222 3333 4444 5555%']],
    ['5000-5000', ['%5000%', '%-5000%', '%5000-5000%']],
    ['-12345', ['%-12345%']],
  ])('has the index look for the numbers of %s beside the whole', (q, values) => {
    const found = written(q, { ids: [], texts: ['name'], addresses: [], macs: [] });
    expect(found.values).toEqual(values);
    expect(found.sql).toBe(`((${values.map((_, i) => `name ILIKE $${i + 1}`).join(' AND ')}))`);
  });

  it('looks for one or two letters where a word begins', () => {
    expect(written('d1').values).toEqual(['d1%', '% d1%', '%-d1%', '%.d1%', '%\\_d1%']);
  });

  it('tries the other cases of letters beyond ASCII', () => {
    expect(written('Ärger', { ids: [], texts: ['name'], addresses: [], macs: [] }).values).toEqual([
      '%Ärger%',
      '%ärger%',
      '%ÄRGER%',
    ]);
  });

  it.each([
    ['0f8b2c1e', '0f8b2c1e-0000-0000-0000-000000000000', '0f8b2c1e-ffff-ffff-ffff-ffffffffffff'],
    ['0F8B2C1E-12', '0f8b2c1e-1200-0000-0000-000000000000', '0f8b2c1e-12ff-ffff-ffff-ffffffffffff'],
    [
      '0f8b2c1e-1234-4321-8000-0123456789ab',
      '0f8b2c1e-1234-4321-8000-0123456789ab',
      '0f8b2c1e-1234-4321-8000-0123456789ab',
    ],
  ])('takes %s for the beginning of an id', (q, from, to) => {
    expect(written(q, { ids: ['id'], texts: [], addresses: [], macs: [] }).values).toEqual([from, to]);
  });

  it.each(['0f8', '0f8b2c1e1', '-', 'xyz', '0f8b2c1e-1234-4321-8000-0123456789abc'])(
    'finds no id that begins with %s',
    (q) => {
      expect(written(q, { ids: ['id'], texts: [], addresses: [], macs: [] })).toEqual({ sql: 'false', values: [] });
    },
  );

  it.each(['10.', '10.0.0.1', 'fd00:', '::1', '52:54:00'])('takes %s for the beginning of an address', (q) => {
    expect(looksLikeAddress(q)).toBe(true);
    expect(written(q).sql).toMatch(/address|mac/);
  });

  it.each(['10', 'web', 'web:1', 'a.b'])('takes %s for no address', (q) => expect(looksLikeAddress(q)).toBe(false));
});
