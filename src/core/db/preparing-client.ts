import { createHash } from 'node:crypto';
import { Client, type ClientConfig } from 'pg';
import { PreparedQuery } from './library-internals';
import { noteUnconnected } from './sql-state';

/** A text is prepared once it has come so often: what runs seldom is not worth a plan kept on every connection. */
const preparedAfter = 3;
/** Texts that are prepared at most, per process: lists of any length (`IN ($1, $2, ...)`) each have their own. */
const maxTexts = 500;

const texts = new Map<string, { seen: number; name: string }>();

/** The name to prepare `text` under, or undefined when it is to be sent as it is. */
const nameOf = (text: string): string | undefined => {
  const known = texts.get(text);
  if (!known) {
    if (texts.size < maxTexts)
      texts.set(text, { seen: 1, name: `auto_${createHash('sha256').update(text).digest('base64url').slice(0, 24)}` });
    return undefined;
  }
  known.seen += 1;
  return known.seen > preparedAfter ? known.name : undefined;
};

/**
 * What a text begins with that is planned each time, for the values that it comes with: where these decide which way is
 * the short one, a plan for any value takes the long one.
 */
export const plannedForValues = '/* planned for its values */ ';

/** Without parameters only what reads: several statements in one text cannot be prepared. */
const worthIt = (text: string, values: unknown): boolean =>
  text.startsWith(plannedForValues)
    ? false
    : Array.isArray(values) && values.length > 0
      ? true
      : /^\s*SELECT\b[^;]*$/i.test(text);

/**
 * A connection that prepares the statements it is asked often, by their text. Without that the server parses and plans
 * each of them anew, which costs several times what running it does. A statement is sent without waiting for the
 * answers to those before it.
 */
export class PreparingClient extends Client {
  constructor(config?: string | ClientConfig) {
    super({ ...(typeof config === 'string' ? { connectionString: config } : config), pipeline: true } as ClientConfig);
    const plain = this.query.bind(this) as (...args: unknown[]) => unknown;
    const preparing = (text: unknown, values: unknown, ...more: unknown[]): unknown => {
      if (typeof text !== 'string' || typeof values === 'function' || !worthIt(text, values))
        return plain(text, values, ...more);
      const name = nameOf(text);
      if (name === undefined) return plain(text, values, ...more);
      const query = new PreparedQuery(name, text, (values as unknown[] | undefined) ?? []);
      const [callback] = more;
      if (typeof callback === 'function') return plain(query, callback);
      return new Promise((resolve, reject) =>
        plain(query, (error: unknown, result: unknown) => (error ? reject(error as Error) : resolve(result))),
      );
    };
    this.query = preparing as typeof this.query;
    const connect = this.connect.bind(this) as unknown as (
      callback: (error: unknown, ...rest: unknown[]) => void,
    ) => void;
    const noting = (callback?: (error: unknown, ...rest: unknown[]) => void): unknown => {
      if (!callback)
        return new Promise((resolve, reject) => noting((error) => (error ? reject(error as Error) : resolve(this))));
      return connect((error, ...rest) => {
        noteUnconnected(error);
        callback(error, ...rest);
      });
    };
    this.connect = noting as typeof this.connect;
    // A connection that breaks while nobody listens is found broken by its next user; it must not end the process.
    this.on('error', () => undefined);
  }
}
