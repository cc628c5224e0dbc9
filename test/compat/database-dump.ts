import type { Client } from 'pg';

export interface DatabaseDump {
  /** Applied when it was taken, oldest first. */
  migrations: string[];
  /** Rows by table. */
  tables: Record<string, Record<string, unknown>[]>;
  /** Last value by sequence. */
  sequences: Record<string, number>;
}

const migrationTable = 'schema_migration';

/** All rows of a database of ours. */
export const dump = async (client: Client): Promise<DatabaseDump> => {
  const names = await client.query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename`,
  );
  const tables: DatabaseDump['tables'] = {};
  for (const { name } of names.rows.filter((row) => row.name !== migrationTable)) {
    const { rows } = await client.query<{ row: Record<string, unknown> }>(`SELECT to_jsonb(t) AS row FROM "${name}" t`);
    if (rows.length > 0) tables[name] = rows.map(({ row }) => row);
  }
  const applied = await client.query<{ name: string }>(`SELECT name FROM ${migrationTable} ORDER BY id`);
  const sequences = await client.query<{ name: string; last: string }>(
    `SELECT sequencename AS name, last_value AS last FROM pg_sequences WHERE schemaname = 'public' AND last_value IS NOT NULL`,
  );
  return {
    migrations: applied.rows.map(({ name }) => name),
    tables,
    sequences: Object.fromEntries(sequences.rows.map(({ name, last }) => [name, Number(last)])),
  };
};

/** Puts the rows into a database that has the same migrations, as a superuser. */
export const restore = async (client: Client, { tables, sequences }: DatabaseDump): Promise<void> => {
  await client.query('SET session_replication_role = replica');
  for (const [table, rows] of Object.entries(tables)) {
    const { rows: columns } = await client.query<{ name: string }>(
      `SELECT column_name AS name FROM information_schema.columns WHERE table_schema = 'public' AND table_name = $1 AND is_generated = 'NEVER'`,
      [table],
    );
    const list = columns.map(({ name }) => `"${name}"`).join(', ');
    await client.query(
      `INSERT INTO "${table}" (${list}) OVERRIDING SYSTEM VALUE SELECT ${list} FROM jsonb_populate_recordset(NULL::"${table}", $1::jsonb)`,
      [JSON.stringify(rows)],
    );
  }
  for (const [name, last] of Object.entries(sequences))
    await client.query('SELECT setval($1::regclass, $2)', [`public."${name}"`, last]);
  await client.query('RESET session_replication_role');
};
