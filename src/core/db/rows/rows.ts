import type { Newable } from 'inversify';
import type { EntityMetadata, ObjectLiteral } from 'typeorm';
import type { Op } from './op';

type ColumnMetadata = EntityMetadata['columns'][number];

/** Values of properties, all of them to be met; of a list one of its members. */
export type RowFilter<E> = { [K in keyof E]?: E[K] | readonly E[K][] };

export interface RowOptions<E> {
  /** Ascending. */
  order?: keyof E & string;
  limit?: number;
  lock?: 'FOR UPDATE' | 'FOR NO KEY UPDATE' | 'FOR KEY SHARE';
}

const quoted = (name: string): string => `"${name}"`;

/** By what was asked for: the list of properties, or the entity where that is all. Then by alias. */
const columnTexts = new WeakMap<object, Map<string, string>>();

/**
 * The columns under the names of their properties, as a SELECT lists them: all, or those of the properties (a list that
 * stays, and is of this entity alone: the text is kept for it).
 */
export const columnsOf = (metadata: EntityMetadata, alias = '', properties?: readonly string[]): string => {
  const texts = columnTexts.get(properties ?? metadata) ?? new Map<string, string>();
  const known = texts.get(alias);
  if (known !== undefined) return known;
  const wanted = properties && new Set(properties);
  const text = metadata.columns
    .filter(({ propertyName }) => wanted?.has(propertyName) ?? true)
    .map(
      ({ databaseName, propertyName }) =>
        `${alias === '' ? '' : `${alias}.`}${quoted(databaseName)} AS ${quoted(propertyName)}`,
    )
    .join(', ');
  columnTexts.set(properties ?? metadata, texts.set(alias, text));
  return text;
};

/** Of these types the driver gives what the entity holds, and TypeORM changes nothing. */
const plain: ReadonlySet<unknown> = new Set([
  'uuid',
  'text',
  'integer',
  'boolean',
  'jsonb',
  'inet',
  'macaddr',
  'timestamptz',
]);

const isPlain = ({ type, isArray, transformer }: ColumnMetadata): boolean =>
  plain.has(type) && !isArray && transformer === undefined;

const converted = new WeakMap<EntityMetadata, ColumnMetadata[]>();
const notPlain = (metadata: EntityMetadata): ColumnMetadata[] => {
  const known = converted.get(metadata) ?? metadata.columns.filter((column) => !isPlain(column));
  converted.set(metadata, known);
  return known;
};

/**
 * Rows that were selected with `columnsOf` as entities, in place: what the driver gives is what an entity holds, but for
 * a few types. What TypeORM's own way does beyond this, for joined relations, takes longer than the query.
 */
export const entitiesOf = <E extends object>(
  metadata: EntityMetadata,
  rows: readonly Record<string, unknown>[],
): E[] => {
  const { driver } = metadata.connection;
  const [first] = rows;
  if (!first) return [];
  const others = notPlain(metadata).filter((column) => column.propertyName in first);
  for (const row of rows)
    for (const column of others)
      row[column.propertyName] = driver.prepareHydratedValue(row[column.propertyName], column);
  return rows as unknown as E[];
};

const columnOf = (metadata: EntityMetadata, property: string): string => {
  const column = metadata.findColumnWithPropertyName(property);
  if (!column) throw new Error(`${metadata.name} has no column "${property}"`);
  return quoted(column.databaseName);
};

/**
 * A list of one is asked for as the one: the server plans a list anew for each length that it meets. A filter without a
 * property would mean every row of
 * the table: that is no filter.
 */
const conditionOf = (metadata: EntityMetadata, filter: object): { condition: string; values: unknown[] } => {
  const values: unknown[] = [];
  const conditions = Object.entries(filter).map(([property, value]) =>
    Array.isArray(value) && value.length !== 1
      ? `${columnOf(metadata, property)} = ANY($${values.push(value)})`
      : `${columnOf(metadata, property)} = $${values.push(Array.isArray(value) ? value[0] : value)}`,
  );
  if (conditions.length === 0) throw new Error(`a filter of ${metadata.name} names no property`);
  return { condition: conditions.join(' AND '), values };
};

/**
 * Rows of one table as entities, by equality: what `manager.find` gives, without its query builder, which costs several
 * times the query on paths that run for every step of every workflow. A list of any length makes the same text, so that
 * it stays prepared.
 */
export const findRows = async <E extends ObjectLiteral>(
  op: Op,
  entity: Newable<E>,
  filter: RowFilter<E>,
  options: RowOptions<E> = {},
): Promise<E[]> => {
  const metadata = op.metadataOf(entity);
  const { condition, values } = conditionOf(metadata, filter);
  const sql = [
    `SELECT ${columnsOf(metadata)} FROM ${quoted(metadata.tableName)} WHERE ${condition}`,
    options.order === undefined ? '' : `ORDER BY ${columnOf(metadata, options.order)}`,
    options.limit === undefined ? '' : `LIMIT ${options.limit}`,
    options.lock ?? '',
  ].join(' ');
  const rows = await op.query<Record<string, unknown>>(sql, values);
  return entitiesOf<E>(metadata, rows);
};

/** The one row that meets the filter, or null. */
export const findRow = async <E extends ObjectLiteral>(
  op: Op,
  entity: Newable<E>,
  filter: RowFilter<E>,
  options: RowOptions<E> = {},
): Promise<E | null> => (await findRows(op, entity, filter, { ...options, limit: 1 }))[0] ?? null;

const fieldsOf = <E extends ObjectLiteral>(
  op: Op,
  entity: Newable<E>,
  values: Partial<E>,
): { table: string; fields: { name: string; value: unknown }[] } => {
  const metadata = op.metadataOf(entity);
  const found = (property: string): ColumnMetadata => {
    const column = metadata.findColumnWithPropertyName(property);
    if (!column) throw new Error(`${metadata.name} has no column "${property}"`);
    return column;
  };
  const fields = Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([property, value]) => ({
      name: quoted(found(property).databaseName),
      value: metadata.connection.driver.preparePersistentValue(value, found(property)) as unknown,
    }));
  return { table: quoted(metadata.tableName), fields };
};

/**
 * Adds a row; what is left out gets its default.
 * @param unlessTaken properties of a unique index: when another row has these values, nothing is added
 * @returns whether it was added
 */
export const insertRow = async <E extends ObjectLiteral>(
  op: Op,
  entity: Newable<E>,
  row: Partial<E>,
  unlessTaken: readonly (keyof E & string)[] = [],
): Promise<boolean> => {
  const { table, fields } = fieldsOf(op, entity, row);
  const target = unlessTaken
    .map((property) => quoted(op.metadataOf(entity).findColumnWithPropertyName(property)?.databaseName ?? property))
    .join(', ');
  const rows = await op.query(
    `INSERT INTO ${table} (${fields.map(({ name }) => name).join(', ')}) VALUES (${fields.map((_, i) => `$${i + 1}`).join(', ')})${target === '' ? '' : ` ON CONFLICT (${target}) DO NOTHING`} RETURNING true`,
    fields.map(({ value }) => value),
  );
  return rows.length === 1;
};

/** Changes the row with this id. False when there is none; true when nothing was to be changed. */
export const updateRow = async <E extends ObjectLiteral & { id: string }>(
  op: Op,
  entity: Newable<E>,
  id: string,
  changes: Partial<E>,
): Promise<boolean> => {
  const { table, fields } = fieldsOf(op, entity, changes);
  if (fields.length === 0) return true;
  const rows = await op.query(
    `UPDATE ${table} SET ${fields.map(({ name }, i) => `${name} = $${i + 2}`).join(', ')} WHERE id = $1 RETURNING id`,
    [id, ...fields.map(({ value }) => value)],
  );
  return rows.length > 0;
};

/** Removes the rows that meet the filter. Returns how many there were. */
export const removeRows = async <E extends ObjectLiteral>(
  op: Op,
  entity: Newable<E>,
  filter: RowFilter<E>,
): Promise<number> => {
  const metadata = op.metadataOf(entity);
  const { condition, values } = conditionOf(metadata, filter);
  return (await op.query(`DELETE FROM ${quoted(metadata.tableName)} WHERE ${condition} RETURNING true`, values)).length;
};

/** How many rows meet the filter. */
export const countRows = async <E extends ObjectLiteral>(
  op: Op,
  entity: Newable<E>,
  filter: RowFilter<E>,
): Promise<number> => {
  const metadata = op.metadataOf(entity);
  const { condition, values } = conditionOf(metadata, filter);
  const sql = `SELECT count(*)::int AS count FROM ${quoted(metadata.tableName)} WHERE ${condition}`;
  return (await op.query<{ count: number }>(sql, values))[0]?.count ?? 0;
};

/** Whether a row meets the filter. */
export const rowExists = async <E extends ObjectLiteral>(
  op: Op,
  entity: Newable<E>,
  filter: RowFilter<E>,
): Promise<boolean> => {
  const metadata = op.metadataOf(entity);
  const { condition, values } = conditionOf(metadata, filter);
  return (await op.query(`SELECT 1 FROM ${quoted(metadata.tableName)} WHERE ${condition} LIMIT 1`, values)).length > 0;
};

/** How many rows meet the filter, and the first of them by name: what a refusal to delete their owner tells. */
export const firstByName = async <E extends ObjectLiteral & { id: string; name: string }>(
  op: Op,
  entity: Newable<E>,
  filter: RowFilter<E>,
  limit: number,
): Promise<{ count: number; rows: { id: string; name: string }[] }> => {
  const metadata = op.metadataOf(entity);
  const { condition, values } = conditionOf(metadata, filter);
  const found = await op.query<{ id: string; name: string; count: number }>(
    `SELECT id, name, (count(*) OVER ())::int AS count FROM ${quoted(metadata.tableName)} WHERE ${condition} ORDER BY name, id LIMIT $${values.push(limit)}`,
    values,
  );
  return { count: found[0]?.count ?? 0, rows: found.map(({ id, name }) => ({ id, name })) };
};
