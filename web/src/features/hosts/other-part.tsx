import { bytes, words } from '../../lib/format';
import { Cut, Head, Row, Table, Td, Th } from '../../ui/lists/table';
import { Card } from '../../ui/page';

type Entry = Readonly<Record<string, unknown>>;

const isPlain = (value: unknown): boolean => value === null || typeof value !== 'object';
/** What fits into a cell: a word, a figure, yes or no, or several of them. */
const fits = (value: unknown): boolean => isPlain(value) || (Array.isArray(value) && value.every(isPlain));
const isBytes = (key: string): boolean => key.endsWith('Bytes');

const shown = (key: string, value: unknown): string => {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (isBytes(key) && typeof value === 'number') return bytes(value);
  return Array.isArray(value) ? value.join(', ') : String(value);
};

/** Members of the entries in the order in which they come. */
const columnsOf = (entries: readonly Entry[]): string[] =>
  [...new Set(entries.flatMap((entry) => Object.keys(entry)))].filter((key) =>
    entries.every((entry) => fits(entry[key])),
  );

/**
 * A part of a host's inventory of which no feature has a card: a plain table of what was reported, under the part's own
 * name. Bytes are told by the names of members, as everywhere in the API.
 */
export function OtherPart({ part, entries: given }: { part: string; entries: readonly unknown[] }) {
  const entries = given.map((entry) => (isPlain(entry) || Array.isArray(entry) ? { value: entry } : (entry as Entry)));
  const columns = columnsOf(entries);
  const right = (key: string): string => (entries.some((entry) => typeof entry[key] === 'number') ? 'text-right' : '');
  return (
    <Card title={words(part)}>
      {entries.length === 0 ? (
        <p className="px-4 py-4 text-sm text-dim">None.</p>
      ) : (
        <Table label={words(part)}>
          <Head>
            {columns.map((key) => (
              <Th key={key} className={right(key)}>
                {words(isBytes(key) ? key.slice(0, -'Bytes'.length) : key)}
              </Th>
            ))}
          </Head>
          <tbody>
            {entries.map((entry, n) => (
              <Row key={n}>
                {columns.map((key, column) => (
                  <Td key={key} className={`max-w-48 ${right(key)} ${column === 0 ? 'font-medium' : 'text-dim'}`}>
                    <Cut text={shown(key, entry[key])} />
                  </Td>
                ))}
              </Row>
            ))}
          </tbody>
        </Table>
      )}
    </Card>
  );
}
