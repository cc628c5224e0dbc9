import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Contracts } from './contracts';
import type { DatabaseDump } from './database-dump';

/** One request between management and a host, with its answer. */
export interface Exchange {
  method: string;
  path: string;
  request?: Record<string, unknown>;
  status: number;
  response?: Record<string, unknown>;
}

/** Whose fixtures are kept: every one must be read. */
export const releases = readdirSync(__dirname, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);

export const directoryOf = (release: string): string => join(__dirname, release);

const read = <T>(release: string, name: string): T =>
  JSON.parse(readFileSync(join(directoryOf(release), name), 'utf8')) as T;
export const contractsOf = (release: string): Contracts => read(release, 'contracts.json');
export const messagesOf = (release: string): Exchange[] => read(release, 'messages.json');
export const databaseOf = (release: string): DatabaseDump => read(release, 'database.json');

/** The verb of an exchange; undefined for another path. */
export const verbOf = ({ path, method }: Exchange): string | undefined =>
  method === 'POST' ? /^\/verbs\/(.+)$/.exec(path)?.[1] : undefined;
