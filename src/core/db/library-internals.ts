import { Client, Pool, Query } from 'pg';
import type { DataSource } from 'typeorm';
import { type FieldDescription, type Row, type RowReader, rowReader } from './row-reader';

/**
 * All that the product takes of pg and TypeORM beyond what these promise: nothing else may reach into them. With other
 * versions than these `test/integration/db/library-internals.test.ts` fails, and tells part by part what still holds on
 * a real server; when all of it does, the new versions are written down here.
 */
export const checkedVersions = { pg: '8.23.1', 'pg-pool': '3.14.0', typeorm: '1.1.1' };

/**
 * The pool of a data source: `driver.master` of TypeORM, which is typed as `any`. Why: its public way to a connection, a
 * query runner, costs several times a short statement, and it is the only one that BEGIN can not be put off in. A pool
 * of our own beside TypeORM's would share no limit with it. Throws when the source is not connected.
 */
export const poolOf = (dataSource: DataSource): Pool => {
  const { master } = dataSource.driver as { master?: unknown };
  if (master instanceof Pool) return master;
  throw new Error(dataSource.isInitialized ? 'TypeORM has no pool of pg as its driver.master' : 'Driver not Connected');
};

/**
 * What the connection is asked until the end of this turn of the event loop leaves in one write: the `connection.stream`
 * of pg, which its types show and its manual does not name. Why: pg sends several statements without waiting (its option
 * `pipeline`), each in a write of its own, and a write is what wakes the server.
 */
export const inOneWrite = ({ connection: { stream } }: Client): void => {
  stream.cork();
  process.nextTick(() => stream.uncork());
};

/** The messages of the protocol that pg's connection sends: here only the one that asks how rows look. */
interface Wire {
  describe(what: object): void;
}
/** Members of pg's query that its types do not show. */
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
 *
 * Of pg's `Query`: `prepare` and `hasBeenParsed`, and `describe` of the connection, which `prepare` calls; the two
 * `handle...` that the client calls with each message; `_result.rows`, which it answers with; `_canceledDueToError`, with
 * which it then fails. Why: pg asks for the description each time and fills rows member by member; its one setting for
 * that, a parser per type, changes neither.
 */
export class PreparedQuery extends Query {
  private reader: RowReader | undefined;
  private learn: ((reader: RowReader) => void) | undefined;

  constructor(name: string, text: string, values: unknown[]) {
    // Not as one object: of that pg makes a copy, member by member.
    super(text, values);
    (this as unknown as QueryInside).name = name;
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

/**
 * What pg, its pool and TypeORM say when there is no connection, or no longer. Why words: these errors have no code and
 * no class of their own.
 */
export const connectionWords =
  /^(timeout exceeded when trying to connect|timeout expired|Connection terminated|Client has encountered a connection error|Client was closed|Query read timeout|Received unexpected \w+ message from backend|Cannot use a pool after calling end|Driver not Connected|The server does not support SSL|There was an error establishing an SSL connection)/;

/** What pg says of a statement that is no valid one, which it finds before it sends it. Words for the same reason. */
export const misuseWords =
  /^(A query must have|Query values must be|Prepared statements must be unique|Passing a function|circular reference|.*not supported in pipeline mode)/;
