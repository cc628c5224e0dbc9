import { z } from 'zod';
import { Problem } from '../../errors/problem';
import { parsePart } from './validation';

const body = z.strictObject({
  name: z.string().min(1).max(63),
  kind: z.enum(['running', 'stopped']),
  size: z.number().int().min(1).max(10).optional(),
  share: z.number().positive().optional(),
  id: z.uuid().optional(),
  subnet: z.cidrv4().optional(),
  code: z.string().regex(/^a+$/).optional(),
  networks: z
    .array(z.strictObject({ address: z.ipv4().optional() }))
    .min(1)
    .max(2)
    .optional(),
  choice: z.union([z.string(), z.number()]).optional(),
});
const right = { name: 'web', kind: 'running' };

const refused = (value: unknown): Problem => {
  try {
    parsePart('body', body, value);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('it was taken');
};

describe('what is wrong with a request', () => {
  it.each<[string, object, number, string]>([
    ['an absent text', { kind: 'running' }, 400, 'body.name: required.'],
    ['an absent choice', { name: 'web' }, 400, 'body.kind: required: running or stopped.'],
    ['another type', { ...right, name: 5 }, 400, 'body.name: must be text, not a number.'],
    ['a fraction', { ...right, size: 1.5 }, 400, 'body.size: must be a whole number, not a fraction.'],
    ['a list for a text', { ...right, code: [] }, 400, 'body.code: must be text, not a list.'],
    ['an empty text', { ...right, name: '' }, 422, 'body.name: must not be empty.'],
    ['a long text', { ...right, name: 'x'.repeat(64) }, 422, 'body.name: at most 63 characters.'],
    ['a number out of range', { ...right, size: 11 }, 422, 'body.size: at most 10.'],
    ['a number that is not above', { ...right, share: 0 }, 422, 'body.share: must be more than 0.'],
    ['an empty list', { ...right, networks: [] }, 422, 'body.networks: at least 1 item.'],
    ['a long list', { ...right, networks: [{}, {}, {}] }, 422, 'body.networks: at most 2 items.'],
    [
      'a choice mistyped',
      { ...right, kind: 'runing' },
      422,
      'body.kind: must be one of running or stopped; did you mean running?',
    ],
    ['no id', { ...right, id: '7' }, 422, 'body.id: must be an id (a UUID).'],
    ['no network', { ...right, subnet: '10.0.0.0' }, 422, 'body.subnet: must be an IPv4 network such as 10.0.0.0/24.'],
    ['another form', { ...right, code: 'b' }, 422, 'body.code: is not of the form that is expected here.'],
    [
      'none of several types',
      { ...right, choice: {} },
      400,
      'body.choice: is none of the forms that are possible here.',
    ],
    ['a key mistyped', { ...right, szie: 1 }, 400, 'body.szie: is not known here; did you mean size?'],
    [
      'a key mistyped within a list',
      { ...right, networks: [{ adress: '10.0.0.1' }] },
      400,
      'body.networks.0.adress: is not known here; did you mean address?',
    ],
    ['a key unlike any', { ...right, colour: 'red' }, 400, 'body.colour: is not known here.'],
    ['several things', { kind: 'running', size: 11 }, 400, 'body.name: required (and 1 more).'],
  ])('is said in plain words: %s', (_, value, status, detail) => {
    const problem = refused(value);
    expect([problem.status, problem.detail]).toEqual([status, detail]);
  });
});
