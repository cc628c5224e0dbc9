import { neededRevision } from '../../../core/m2m/verbs/revisions';
import { instanceEnsure } from './instance.verbs';
import { capabilitiesFor } from './machine-options';
import { sharesInput } from './shares';

const problems = (shares: unknown): string[] =>
  sharesInput.safeParse(shares).error?.issues.map(({ path }) => path.join('.')) ?? [];

describe('the shares that an instance asks for', () => {
  it('are named, for writing unless it is said otherwise', () => {
    expect(sharesInput.parse([{ share: 'media' }, { share: 'a-b_c9', readonly: true }])).toEqual([
      { share: 'media', readonly: false },
      { share: 'a-b_c9', readonly: true },
    ]);
    expect(sharesInput.parse(undefined)).toEqual([]);
  });
  it.each(['', '-a', 'a-', 'A', 'a b', 'a/b', '..', 'a,b', 'a=b', 'ä', 'a\n', 'a\0', 'x'.repeat(37)])(
    'have no name such as %j',
    (share) => expect(problems([{ share }])).toEqual(['0.share']),
  );
  it('need a VMM that can, and an agent that knows of them', () => {
    expect(capabilitiesFor({ shares: [{}] })).toEqual(['virtio-fs']);
    expect(capabilitiesFor({ shares: [] })).toEqual([]);
    const needed = (more: object): number => neededRevision(instanceEnsure, { spec: { vmm: null, ...more } });
    const shares = { projectId: 'p', wanted: [{ share: 'media', readonly: false }] };
    expect(needed({ shares })).toBeGreaterThan(needed({ machine: { balloon: true } }));
  });
  it('are four at most, each once', () => {
    expect(problems([{ share: 'a' }, { share: 'b' }, { share: 'a', readonly: true }])).toEqual(['2.share']);
    expect(problems(['a', 'b', 'c', 'd', 'e'].map((share) => ({ share })))).toEqual(['']);
    expect(problems([{ share: 'a', path: '/etc' }])).toEqual(['0']);
  });
});
