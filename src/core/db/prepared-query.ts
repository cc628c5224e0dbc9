import { Query } from 'pg';
import { type FieldDescription, type Row, type RowReader, rowReader } from './row-reader';

/** What is used of pg's connection and query beside what they declare: a test tells when it changes. */
interface Wire {
  describe(what: object): void;
}
interface QueryInside {
  name: string;
  _result: { rows: Row[] };
  _canceledDueToError: unknown;
  hasBeenParsed(wire: Wire): boolean;
  prepare(wire: Wire): void;
}

const { prepare } = Query.prototype as unknown as QueryInside;

/** Of one connection. */
interface Known {
  /** By the statement's name. */
  readers: Map<string, RowReader>;
  /** The connection, to whoever needs no description. */
  silent: Wire;
}
const connections = new WeakMap<Wire, Known>();

const knownOf = (wire: Wire): Known => {
  let known = connections.get(wire);
  if (!known) {
    const silent = Object.create(wire, { describe: { value: () => undefined } }) as Wire;
    known = { readers: new Map(), silent };
    connections.set(wire, known);
  }
  return known;
};

/**
 * A prepared statement whose rows are described to us once per connection, and not with every answer: the server refuses
 * to run one whose columns have changed since it was prepared. Rows are made by a reader of their kind.
 */
export class PreparedQuery extends Query {
  private reader: RowReader | undefined;
  private learn: ((reader: RowReader) => void) | undefined;

  constructor(name: string, text: string, values: unknown[]) {
    super({ name, text, values });
  }

  prepare(wire: Wire): void {
    const inside = this as unknown as QueryInside;
    const { readers, silent } = knownOf(wire);
    this.reader = inside.hasBeenParsed(wire) ? readers.get(inside.name) : undefined;
    this.learn = (reader) => void readers.set(inside.name, reader);
    prepare.call(this, this.reader ? silent : wire);
  }

  handleRowDescription({ fields }: { fields: FieldDescription[] }): void {
    this.reader = rowReader(fields);
    this.learn?.(this.reader);
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    const inside = this as unknown as QueryInside;
    if (inside._canceledDueToError) return;
    try {
      if (!this.reader) throw new Error('a row came before its description');
      inside._result.rows.push(this.reader(fields));
    } catch (error) {
      inside._canceledDueToError = error;
    }
  }
}
