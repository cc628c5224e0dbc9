import { NotUnderstood } from './not-understood';
import { argsFor, knownRevision, neededRevision } from './revisions';

const paint = {
  name: 'wall.paint',
  revision: 4,
  older: {
    4: ({ gloss, ...rest }: Record<string, unknown>) => {
      if (gloss === true) throw new NotUnderstood('gloss');
      return rest;
    },
    3: ({ colour, ...rest }: Record<string, unknown>) => ({ ...rest, color: colour }),
  },
};

describe('arguments of a newer verb for an older node', () => {
  it('are written step by step as it reads them', () => {
    expect(argsFor(paint, { colour: 'red', gloss: false }, 4)).toEqual({ colour: 'red', gloss: false });
    expect(argsFor(paint, { colour: 'red', gloss: false }, 3)).toEqual({ colour: 'red' });
    expect(argsFor(paint, { colour: 'red', gloss: false }, 2)).toEqual({ color: 'red' });
  });
  it('are the same for a node that knows more', () =>
    expect(argsFor(paint, { colour: 'red' }, 9)).toEqual({ colour: 'red' }));
  it.each([
    [{ colour: 'red', gloss: true }, 3, 'gloss'],
    [{ colour: 'red', gloss: false }, 1, 'revision 2 of "wall.paint"'],
    [{ colour: 'red' }, 0, 'the verb "wall.paint"'],
  ])('are refused by name where they cannot be said: %j for %i', (args, known, what) =>
    expect(() => argsFor(paint, args, known)).toThrow(expect.objectContaining({ what })),
  );
  it('tell the lowest revision that says what they do', () => {
    expect(neededRevision(paint, { colour: 'red', gloss: true })).toBe(4);
    expect(neededRevision(paint, { colour: 'red', gloss: false })).toBe(2);
    expect(neededRevision({ ...paint, revision: 1, older: {} }, {})).toBe(1);
  });
});

describe('what a node knows of a verb', () => {
  it('is what it tells, and the first revision of an agent that tells nothing', () => {
    expect([knownRevision({ a: 3 }, 'a'), knownRevision({ a: 3 }, 'b'), knownRevision({}, 'constructor')]).toEqual([
      3, 0, 0,
    ]);
    expect(knownRevision(null, 'a')).toBe(1);
  });
});
