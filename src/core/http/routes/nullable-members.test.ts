import { nullableMembers } from './nullable-members';

describe('nullableMembers', () => {
  it('lets null stand for members that may be absent, at every depth, and for no other', () => {
    expect(
      nullableMembers({
        type: 'object',
        required: ['name', 'cards'],
        additionalProperties: false,
        properties: {
          name: { type: 'string' },
          size: { type: 'integer', description: 'Bytes.' },
          cleared: { type: ['string', 'null'] },
          cards: {
            type: 'array',
            items: {
              type: 'object',
              required: ['network'],
              properties: { network: { type: 'string' }, mac: { type: 'string', enum: ['a', 'b'] } },
            },
          },
        },
      }),
    ).toEqual({
      type: 'object',
      required: ['name', 'cards'],
      additionalProperties: false,
      properties: {
        name: { type: 'string' },
        size: { description: 'Bytes.', anyOf: [{ type: 'integer' }, { type: 'null' }] },
        cleared: { type: ['string', 'null'] },
        cards: {
          type: 'array',
          items: {
            type: 'object',
            required: ['network'],
            properties: {
              network: { type: 'string' },
              mac: { anyOf: [{ type: 'string', enum: ['a', 'b'] }, { type: 'null' }] },
            },
          },
        },
      },
    });
  });
});
