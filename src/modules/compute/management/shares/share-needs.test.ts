import type { HostParts } from '../../../host/contract/host-needs';
import { shareNeeds } from './share-needs';

const [own, other] = ['0198b0f4-2222-7000-8000-000000000003', '0198b0f4-2222-7000-8000-000000000004'];
const media = { name: 'media', readonly: false, projects: [own], usable: true };

/** The reason of the first need that a host with these shares does not fulfil. */
const refusal = (
  shares: readonly object[] | undefined,
  asked: Parameters<typeof shareNeeds>[1],
): string | undefined => {
  const parts: HostParts = shares === undefined ? {} : { shares: shares as readonly Record<string, unknown>[] };
  for (const { refuses } of shareNeeds(own, asked)) {
    const reason = refuses(parts);
    if (reason !== undefined) return reason;
  }
  return undefined;
};

describe('what shares need of a host', () => {
  const [write, read] = [
    { share: 'media', readonly: false },
    { share: 'media', readonly: true },
  ];
  it('is that it gives all of them to the project, in the way that is asked for', () => {
    expect(refusal([media], [write])).toBeUndefined();
    expect(refusal([media], [read])).toBeUndefined();
    expect(refusal([{ ...media, readonly: true }], [read])).toBeUndefined();
    expect(refusal([{ ...media, readonly: true }], [write])).toBe('it gives the share "media" for reading only');
    expect(refusal([media], [write, { share: 'docs', readonly: true }])).toBe(
      'it does not give its project the share "docs"',
    );
  });
  it.each([
    [undefined],
    [[]],
    [[{ ...media, projects: [other] }]],
    [[{ ...media, projects: [] }]],
    [[{ ...media, usable: false }]],
  ])('is not fulfilled by %j', (shares) =>
    expect(refusal(shares, [read])).toBe('it does not give its project the share "media"'),
  );
  it('is nothing where nothing is asked for', () => expect(shareNeeds(own, [])).toEqual([]));
});
