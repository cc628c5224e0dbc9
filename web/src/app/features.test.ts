import { Features } from './features';
import type { Feature, PaletteVerb } from './feature';
import { verbs } from '../features/instances/palette-verbs';

const features = new Features([{ palette: { verbs, Results: () => null } }]);

describe('the verbs of the palette', () => {
  it.each([
    ['stop web', 'stop', 'web'],
    ['  Restart  my web server ', 'reboot', 'my web server'],
    ['delete 10.0.0.5', 'delete', '10.0.0.5'],
    ['console ', 'console', ''],
  ])('take "%s" for %s of "%s"', (text, action, rest) => {
    const found = features.parseAction(text);
    expect([found?.verb.action, found?.rest]).toEqual([action, rest]);
    expect(features.ofVerb(found?.verb as PaletteVerb)).toBe(features.all[0]);
  });

  it.each(['stop', 'stopped web', 'web stop', ''])('take "%s" for no action', (text) =>
    expect(features.parseAction(text)).toBeNull(),
  );
});

describe('features together', () => {
  const page = () => null;
  const item = (to: string) => ({ to, label: to, icon: page as unknown as PaletteVerb['icon'] });

  it('stand in the navigation in their order, by group', () => {
    const { navGroups } = new Features([
      { nav: [{ group: null, item: item('/') }] },
      { nav: [{ group: 'A', item: item('/a1') }] },
      { nav: [{ group: 'B', item: item('/b') }] },
      { nav: [{ group: 'A', item: item('/a2') }] },
      { nav: [{ group: 'A', item: item('/a0'), first: true }] },
    ]);
    expect(navGroups.map(({ label, items }) => [label, items.map(({ to }) => to)])).toEqual([
      [null, ['/']],
      ['A', ['/a0', '/a1', '/a2']],
      ['B', ['/b']],
    ]);
  });

  it('have no page, live key or icon twice', () => {
    const twice = (feature: Feature) => () => new Features([feature, { ...feature }]);
    expect(twice({ routes: [{ path: '/things', page }] })).toThrow('two features have a page at /things');
    expect(twice({ live: { thing: ['things'] } })).toThrow('two features have the live key "thing"');
    expect(twice({ icons: { thing: item('/').icon } })).toThrow('two features have the icon "thing"');
  });
});
