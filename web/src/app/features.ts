import type { ComponentType } from 'react';
import type { Feature, Findable, HostPartProps, NavItem, PaletteVerb } from './feature';

/** All features together, as the frame around the pages reads them. */
export class Features {
  readonly navGroups: readonly { label: string | null; items: readonly NavItem[] }[];
  readonly find: readonly Findable[];
  readonly verbs: readonly PaletteVerb[];
  readonly live: Readonly<Record<string, readonly string[]>>;
  readonly hostParts: Readonly<Record<string, ComponentType<HostPartProps>>>;
  readonly icons: Readonly<Record<string, NavItem['icon']>>;

  constructor(readonly all: readonly Feature[]) {
    const entries = all.flatMap((f) => f.nav ?? []);
    this.navGroups = [...new Set(entries.map(({ group }) => group))].map((label) => {
      const own = entries.filter(({ group }) => group === label);
      return {
        label,
        items: [...own.filter((e) => e.first), ...own.filter((e) => !e.first)].map(({ item }) => item),
      };
    });
    const find = all.flatMap((f) => f.find ?? []);
    this.find = [...find.filter((one) => !one.last), ...find.filter((one) => one.last)];
    this.verbs = all.flatMap((f) => f.palette?.verbs ?? []);
    this.live = once(
      'live key',
      all.map((f) => f.live),
    );
    this.hostParts = once(
      'part of a host',
      all.map((f) => f.hostParts),
    );
    this.icons = once(
      'icon',
      all.map((f) => f.icons),
    );
    const paths = all.flatMap((f) => f.routes ?? []).map(({ path }) => path);
    const twice = paths.find((path, i) => paths.indexOf(path) !== i);
    if (twice !== undefined) throw new Error(`two features have a page at ${twice}`);
  }

  navItems(admin: boolean): NavItem[] {
    return this.navGroups.flatMap((g) => g.items).filter((item) => admin || item.adminOnly !== true);
  }

  /** `stop web` → the verb and what it is for; null when the text begins with no verb and a blank. */
  parseAction(text: string): { verb: PaletteVerb; rest: string } | null {
    const [, word, rest] = /^(\S+)\s+(.*)$/s.exec(text.trimStart()) ?? [];
    if (word === undefined || rest === undefined) return null;
    const verb = this.verbs.find(({ words }) => words.includes(word.toLowerCase()));
    return verb === undefined ? null : { verb, rest: rest.trim() };
  }

  /** The feature that a verb of the palette belongs to. */
  ofVerb(verb: PaletteVerb): Feature | undefined {
    return this.all.find((f) => f.palette?.verbs.includes(verb));
  }
}

/** One table of several; a name twice is a mistake that would else show as a missing part. */
const once = <T>(what: string, tables: readonly (Readonly<Record<string, T>> | undefined)[]): Record<string, T> => {
  const joined: Record<string, T> = {};
  for (const [name, value] of tables.flatMap((table) => Object.entries(table ?? {}))) {
    if (Object.hasOwn(joined, name)) throw new Error(`two features have the ${what} "${name}"`);
    joined[name] = value;
  }
  return joined;
};
