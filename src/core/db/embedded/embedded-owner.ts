import { Client } from 'pg';

/** The role that the product works as: it owns the database and everything in it, and is no superuser. */
export const ownerRole = 'vcstack_owner';
export const databaseName = 'vcstack';

/**
 * Everything outside of the system's schemas that `from` owns, but what belongs to an extension or goes with its table.
 */
const handOver = (from: string): string => `
DO $$
DECLARE
  statement text;
BEGIN
  FOR statement IN
    SELECT format('ALTER SCHEMA %I OWNER TO ${ownerRole}', n.nspname)
      FROM pg_namespace n WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' AND n.nspowner <> '${ownerRole}'::regrole
    UNION ALL
    SELECT format('ALTER %s %I.%I OWNER TO ${ownerRole}', CASE c.relkind WHEN 'S' THEN 'SEQUENCE' WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'TABLE' END, n.nspname, c.relname)
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relowner = '${from}'::regrole AND c.relkind IN ('r', 'p', 'S', 'v', 'm') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
        AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND (d.deptype = 'e' OR (c.relkind = 'S' AND d.deptype IN ('a', 'i') AND d.refclassid = 'pg_class'::regclass)))
    UNION ALL
    SELECT format('ALTER ROUTINE %I.%I(%s) OWNER TO ${ownerRole}', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid))
      FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
      WHERE p.proowner = '${from}'::regrole AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
        AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
    UNION ALL
    SELECT format('ALTER TYPE %I.%I OWNER TO ${ownerRole}', n.nspname, t.typname)
      FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
      WHERE t.typowner = '${from}'::regrole AND t.typtype IN ('e', 'd') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
        AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_type'::regclass AND d.objid = t.oid AND d.deptype = 'e')
  LOOP
    EXECUTE statement;
  END LOOP;
END $$`;

/** Work that somebody else's lock holds up is given up. Milliseconds. */
const lockTimeoutMs = 60_000;

const withClient = async <T>(url: string, work: (client: Client) => Promise<T>): Promise<T> => {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};

/**
 * Ensures that the owner role and its database are there. A database of before this role, made and owned by the
 * superuser, is handed over with all that is in it, in one transaction. Idempotent.
 * @param superuser the name of the cluster's first role, which stays for this alone
 * @param urlOf the superuser's URL of a database
 */
export const ensureOwner = async (
  superuser: string,
  urlOf: (database: string) => string,
  password: string,
): Promise<void> => {
  await withClient(urlOf('postgres'), async (client) => {
    const known = await client.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [ownerRole]);
    const attributes = `LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD ${client.escapeLiteral(password)}`;
    await client.query(`${known.rowCount === 0 ? 'CREATE' : 'ALTER'} ROLE ${ownerRole} ${attributes}`);
    const found = await client.query<{ owner: string }>(
      'SELECT pg_get_userbyid(datdba) AS owner FROM pg_database WHERE datname = $1',
      [databaseName],
    );
    if (found.rowCount === 0) await client.query(`CREATE DATABASE ${databaseName} OWNER ${ownerRole}`);
    else if (found.rows[0]?.owner !== ownerRole)
      await client.query(`ALTER DATABASE ${databaseName} OWNER TO ${ownerRole}`);
  });
  await withClient(urlOf(databaseName), async (client) => {
    await client.query(`SET lock_timeout = ${lockTimeoutMs}`);
    await client.query(handOver(superuser));
  });
};
