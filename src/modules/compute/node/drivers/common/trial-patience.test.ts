import { patienceFor, trialPatience } from './trial-patience';

describe('the patience of trials', () => {
  it('is the usual one where computing takes the usual time, or less', () => {
    expect(patienceFor(40)).toEqual({ silence: 6000, longest: 20_000 });
    expect(patienceFor(5)).toEqual({ silence: 6000, longest: 20_000 });
  });

  it('grows with what computing takes, to ten times the usual', () => {
    expect(patienceFor(120)).toEqual({ silence: 18_000, longest: 60_000 });
    expect(patienceFor(400)).toEqual({ silence: 60_000, longest: 200_000 });
    expect(patienceFor(40_000)).toEqual({ silence: 60_000, longest: 200_000 });
  });

  it('is measured', async () => {
    const { silence, longest } = await trialPatience();
    expect(silence).toBeGreaterThanOrEqual(6000);
    expect(longest).toBeLessThanOrEqual(200_000);
  });
});
