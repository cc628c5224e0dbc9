import { searchCondition, type SearchedColumns } from './search';

/** Several values of one column. */
export interface Choice {
  column: string;
  values: readonly string[];
}

/**
 * What the rows of a list must meet, put together from what was asked for. What is not given narrows nothing. Columns
 * are named with the list's alias.
 */
export class Conditions {
  readonly params: unknown[] = [];
  private readonly parts: string[] = [];
  private choice: Choice | undefined;
  private found = false;

  /** Adds a parameter and returns its placeholder. */
  bind(value: unknown): string {
    return `$${this.params.push(value)}`;
  }

  /** A condition in SQL, with placeholders from `bind`. */
  add(condition: string): this {
    this.parts.push(condition);
    return this;
  }

  equal(column: string, value: unknown): this {
    return value === undefined ? this : this.add(`${column} = ${this.bind(value)}`);
  }

  /**
   * Equal to one of a closed set of words. The statement itself names it, not a parameter: so the planner knows whether
   * many rows have it, also once the statement is prepared. Throws for what is not in the set.
   */
  oneOf<T extends string>(column: string, value: T | undefined, set: readonly T[]): this {
    if (value === undefined) return this;
    if (!set.includes(value) || !/^[a-z-]+$/.test(value)) throw new Error(`"${value}" is not one of ${set.join(', ')}`);
    return this.add(`${column} = '${value}'`);
  }

  /** Greater than the value, which the page before ended with. */
  after(column: string, value: unknown): this {
    return value === undefined ? this : this.add(`${column} > ${this.bind(value)}`);
  }

  /** Less than the value, which the page before ended with. */
  before(column: string, value: unknown): this {
    return value === undefined ? this : this.add(`${column} < ${this.bind(value)}`);
  }

  /** One of these ids: the projects that the caller may see. A list has one such column. */
  within(column: string, ids: 'all' | readonly string[]): this {
    if (ids === 'all') return this;
    const [only, ...others] = ids;
    if (only !== undefined && others.length === 0) return this.equal(column, only);
    this.choice = { column, values: ids };
    return this;
  }

  /**
   * What `q` looks for; no `q`, no change.
   * @param more further ways to match, in SQL
   */
  search(q: string | undefined, columns: SearchedColumns, more: readonly string[] = []): this {
    if (q === undefined) return this;
    this.found = true;
    return this.add(`(${[searchCondition(q, columns, (value) => this.bind(value)), ...more].join(' OR ')})`);
  }

  /** Whether `q` is part of them. */
  get searched(): boolean {
    return this.found;
  }

  /**
   * The conditions for rows in the order of an index. Of several ids each is then read by itself, at most a page of it:
   * the planner would otherwise sort all rows that match, or read past all that do not. What a search found is few, and
   * is sorted.
   */
  get ordered(): { where: string; each: Choice | undefined } {
    if (this.found || !this.choice) return { where: this.where, each: undefined };
    return { where: joined(this.parts), each: this.choice };
  }

  /** The conditions in one. */
  get where(): string {
    return joined(
      this.choice
        ? [`${this.choice.column} = ANY(${this.bind(this.choice.values)}::uuid[])`, ...this.parts]
        : this.parts,
    );
  }
}

const joined = (parts: readonly string[]): string => parts.map((part) => `(${part})`).join(' AND ') || 'true';
