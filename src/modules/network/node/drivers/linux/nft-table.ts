/** A set or map by name: its elements change without its table. */
export interface NftSet {
  kind: 'set' | 'map';
  name: string;
  /** As nft declares it: `ipv4_addr`, `mark : mark`. */
  type: string;
  elements: string[];
}

/** One table, replaced as a whole in one nft transaction. nft 1.0.6 wants every closing brace on a line of its own. */
export interface NftTable {
  family: 'bridge' | 'inet';
  name: string;
  /** Those of which the elements change by themselves. */
  sets?: NftSet[];
  body: string[];
}

/** The elements in braces; empty for none. */
const elementsOf = ({ elements }: NftSet): string[] => (elements.length > 0 ? [`{ ${elements.join(', ')} }`] : []);

const declared = (set: NftSet): string[] => [
  `${set.kind} ${set.name} {`,
  `type ${set.type}`,
  ...elementsOf(set).map((elements) => `elements = ${elements}`),
  '}',
];

/** The input of `nft -f` that replaces the tables: all of it holds, or nothing changes. */
export const renderTables = (tables: readonly NftTable[]): string =>
  tables
    .flatMap((t) => [
      `table ${t.family} ${t.name}`,
      `delete table ${t.family} ${t.name}`,
      `table ${t.family} ${t.name} {`,
      ...(t.sets ?? []).flatMap(declared),
      ...t.body,
      '}',
    ])
    .join('\n') + '\n';

/** The input of `nft -f` that gives these sets their elements, at once, and leaves everything else as it is. */
export const renderElements = (table: NftTable, sets: readonly NftSet[]): string =>
  sets
    .flatMap((set) => [
      `flush ${set.kind} ${table.family} ${table.name} ${set.name}`,
      ...elementsOf(set).map((elements) => `add element ${table.family} ${table.name} ${set.name} ${elements}`),
    ])
    .join('\n') + '\n';

export const chain = (name: string, rules: readonly string[]): string[] => [`chain ${name} {`, ...rules, '}'];

/** One of these, as nft writes it. */
export const anyOf = (values: readonly string[]): string => {
  const [only, ...more] = values;
  return only !== undefined && more.length === 0 ? only : `{ ${values.join(', ')} }`;
};
