import { Conditions } from './conditions';

describe('Conditions', () => {
  it('name a word of a closed set in the statement itself, and nothing else', () => {
    const states = ['running', 'in-error', "it's"] as const;
    expect(new Conditions().oneOf('i.state', 'in-error', states).where).toBe("(i.state = 'in-error')");
    expect(new Conditions().oneOf('i.state', undefined, states).where).toBe('true');
    for (const other of ['deleted', "it's", "running' OR true --"])
      expect(() => new Conditions().oneOf('i.state', other as (typeof states)[number], states)).toThrow(
        'is not one of',
      );
  });
});
