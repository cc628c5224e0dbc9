import pino from 'pino';
import { EmbeddedPostgres, type EmbeddedPostgresOptions } from '../../../src/core/db/embedded/embedded-postgres';

/** Starts an embedded PostgreSQL, to be killed in the midst of it. Its argument: the options, as JSON. */
void new EmbeddedPostgres(
  JSON.parse(process.argv[2] ?? '') as EmbeddedPostgresOptions,
  pino({ level: 'silent' }),
).start();
