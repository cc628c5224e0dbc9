import { createHash } from 'node:crypto';
import { execIn } from './netns';
import { renderElements, renderTables, type NftTable } from './nft-table';

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

export const tablesHash = (tables: readonly NftTable[]): string => hash(renderTables(tables));

/** Of everything but the elements of sets that change by themselves. */
export const shapeHash = (tables: readonly NftTable[]): string =>
  tablesHash(tables.map((t) => ({ ...t, sets: (t.sets ?? []).map((set) => ({ ...set, elements: [] })) })));

const setKey = (table: NftTable, name: string): string => `${table.family} ${table.name} ${name}`;

/** Fingerprints of the elements of such sets, by table and name. */
export const elementHashes = (tables: readonly NftTable[]): Record<string, string> =>
  Object.fromEntries(
    tables.flatMap((t) => (t.sets ?? []).map((set) => [setKey(t, set.name), hash(set.elements.join())])),
  );

const inOrder = (value: unknown): unknown =>
  Array.isArray(value) ? value.map((one: unknown) => JSON.stringify(one)).sort() : value;

/** Drops what differs between two listings of the same rules: handles, counters, the header. */
const withoutHandles = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutHandles);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== 'handle' && key !== 'metainfo' && key !== 'packets' && key !== 'bytes')
      // A set's elements have no order of their own.
      .map(([key, inner]) => [key, key === 'elem' ? inOrder(withoutHandles(inner)) : withoutHandles(inner)]),
  );
};

/** Loads tables in one transaction: an error leaves the old ones in place and is thrown with nft's own message. */
export const loadTables = async (netns: string | null, tables: readonly NftTable[]): Promise<void> => {
  await execIn(netns, 'nft', ['-f', '-'], renderTables(tables));
};

/** Gives sets their new elements in one transaction; `before`: those of which it is known that they have them. */
export const loadElements = async (
  netns: string | null,
  tables: readonly NftTable[],
  before: Readonly<Record<string, string>>,
): Promise<void> => {
  const now = elementHashes(tables);
  const text = tables
    .map((t) => {
      const changed = (t.sets ?? []).filter(({ name }) => now[setKey(t, name)] !== before[setKey(t, name)]);
      return changed.length > 0 ? renderElements(t, changed) : '';
    })
    .join('');
  await execIn(netns, 'nft', ['-f', '-'], text);
};

/**
 * A fingerprint of the tables as the kernel has them, null when one is missing. What is loaded cannot be compared with
 * the text that was written, so the fingerprint of a fresh load is kept and compared with later ones.
 */
export const listedHash = async (netns: string | null, tables: readonly NftTable[]): Promise<string | null> => {
  const names = new Set(tables.map((t) => `${t.family} ${t.name}`));
  const output: unknown = JSON.parse(await execIn(netns, 'nft', ['-j', 'list', 'ruleset']));
  const entries = ((output as { nftables?: unknown[] }).nftables ?? []).filter((entry) => {
    const [kind, body] =
      Object.entries(entry as Record<string, { family?: string; name?: string; table?: string }>)[0] ?? [];
    return body !== undefined && names.has(`${body.family} ${kind === 'table' ? body.name : body.table}`);
  });
  const found = entries.filter((e) => 'table' in (e as object)).length;
  return found < names.size ? null : hash(JSON.stringify(withoutHandles(entries)));
};

/** Removes a table if it is there. */
export const dropTable = async (netns: string | null, table: { family: string; name: string }): Promise<void> => {
  await execIn(
    netns,
    'nft',
    ['-f', '-'],
    `table ${table.family} ${table.name}\ndelete table ${table.family} ${table.name}\n`,
  );
};
