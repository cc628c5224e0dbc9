import { z } from 'zod';
import { formatRecord, parseRecord, type RecordForm } from './record-form';

const form: RecordForm<{ name: string; sizes: number[] }> = {
  name: 'record of a shelf',
  version: 3,
  schema: z.object({ name: z.string(), sizes: z.array(z.number()) }),
  upgrades: {
    1: ({ title, ...rest }) => ({ ...rest, name: title }),
    2: ({ size, ...rest }) => ({ ...rest, sizes: [size] }),
  },
};

describe('a record', () => {
  it('comes back as it was written, with its version', () => {
    const text = formatRecord(form, { name: 'a', sizes: [1] });
    expect(JSON.parse(text)).toEqual({ version: 3, name: 'a', sizes: [1] });
    expect(parseRecord(form, text)).toEqual({ kind: 'read', value: { name: 'a', sizes: [1] } });
  });
  it.each([
    ['{"title":"a","size":2}'],
    ['{"version":1,"title":"a","size":2}'],
    ['{"version":2,"name":"a","size":2}'],
    ['{"version":3,"name":"a","sizes":[2],"unheard":true}'],
  ])('of an older version is brought up to the present one: %s', (text) =>
    expect(parseRecord(form, text)).toEqual({ kind: 'read', value: { name: 'a', sizes: [2] } }),
  );
  it('of a newer version is told from a damaged one', () => {
    expect(parseRecord(form, '{"version":4,"name":"a","shelves":[]}')).toEqual({
      kind: 'newer',
      version: 4,
      value: undefined,
      reason: 'the record of a shelf is of version 4, and this agent knows 3 at most',
    });
    expect(parseRecord(form, '{"version":4,"name":"a","sizes":[2],"more":1}')).toMatchObject({
      kind: 'newer',
      value: { name: 'a', sizes: [2] },
    });
  });
  it.each([
    '',
    '{"ver',
    '[]',
    'null',
    '7',
    '{"version":"3"}',
    '{"version":0}',
    '{"version":3,"name":7}',
    '{"version":1}',
  ])('that is none never throws: %s', (text) =>
    expect(parseRecord(form, text)).toMatchObject({ kind: 'unreadable', reason: expect.any(String) }),
  );
  it('that an upgrade does not understand is unreadable', () =>
    expect(
      parseRecord(
        {
          ...form,
          upgrades: {
            1: () => {
              throw new Error('no');
            },
          },
        },
        '{}',
      ),
    ).toMatchObject({ kind: 'unreadable', reason: 'the record of a shelf of version 1 could not be upgraded' }));
});
