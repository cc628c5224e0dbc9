/**
 * Makes the fixtures of this release from a real run: `sudo node -r ./test/support/ts-register.js test/compat/record.ts`,
 * after `npm run build`. A cloud with one host and real guests is used as users do; what went over the wire, the files of
 * its agent and its database are kept in `test/compat/<release>/`. Its keys are of no use to anybody: the cloud is gone.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { buildVersion } from '../../src/core/config/build-version';
import { databaseName, ownerRole } from '../../src/core/db/embedded/embedded-owner';
import { TestCloud } from '../support/cloud';
import { eventually } from '../support/eventually';
import { repositoryRoot } from '../support/repository';
import { contracts } from './contracts';
import { dump } from './database-dump';

interface Exchange {
  method: string;
  path: string;
  request?: { args?: unknown; sections?: Record<string, unknown> };
  status: number;
  response?: unknown;
}

const target = join(repositoryRoot, 'test/compat', buildVersion);
const recorded = '/tmp/vc-stack-compat-messages';
/** Kept of each kind: enough to have every shape that the run had. */
const kept = 4;
/** Files of a host that are bytes of guests or answers to be asked for again, not records. */
const left = /(\.raw|\.log\.1|\.sock)$|\/(vmm\.log|serial)/;

/** The first few of each verb, path and outcome, and every shape of what was sent. */
const choose = (lines: Exchange[]): Exchange[] => {
  const counts = new Map<string, number>();
  return lines.filter((line) => {
    const path = line.path.replace(/key=.*/, 'key=');
    const shape = `${line.method} ${path} ${line.status} ${Object.keys(line.request?.sections ?? {}).join()} ${JSON.stringify(line.request?.args ?? {}).replace(/"[^"]*"(?!:)|\d+/g, '')}`;
    const of = `${line.method} ${path} ${line.status}`;
    counts.set(of, (counts.get(of) ?? 0) + 1);
    const first = !counts.has(shape);
    counts.set(shape, 1);
    return first && (counts.get(of) ?? 0) <= 40 ? true : (counts.get(of) ?? 0) <= kept;
  });
};

/** The agent's records; larger files are content. */
const keepFiles = (from: string, to: string): void => {
  for (const name of readdirSync(from, { recursive: true }) as string[]) {
    const file = join(from, name);
    const { mode, size } = statSync(file);
    if ((mode & 0o170000) !== 0o100000 || left.test(file) || size > 262_144) continue;
    mkdirSync(join(to, name, '..'), { recursive: true });
    cpSync(file, join(to, name));
  }
};

const use = async (cloud: TestCloud): Promise<void> => {
  await cloud.furnish();
  const q = '?project=default' as const;
  const done = async (answer: Promise<{ taskId: string }>): Promise<void> => {
    await cloud.settled((await answer).taskId);
  };
  const act = (
    ref: string,
    verb: 'start' | 'stop' | 'reboot',
    body: { force?: boolean } = {},
  ): Promise<{ taskId: string }> => cloud.api.ok('POST', `/instances/${ref}/actions/${verb}${q}`, body);
  const userData = Buffer.from('#!/bin/sh\necho hello\n').toString('base64');
  await cloud.api.ok('POST', '/flavors', {
    name: 'vendor',
    vcpus: 1,
    memoryBytes: 192 * 2 ** 20,
    vendorData: '#!/bin/sh\n',
  });
  await done(cloud.create('web', { userData, configDrive: 'nocloud', flavor: 'vendor' }));
  await done(cloud.create('short-lived'));
  await done(cloud.create('asleep'));
  await done(act('asleep', 'stop', { force: true }));
  await cloud.api.ok('GET', `/instances/web/console-log${q}`);
  await cloud.api.ok('GET', `/instances/web/guest-data${q}`);
  await done(act('web', 'reboot', { force: true }));
  await done(act('web', 'stop', { force: true }));
  await done(act('web', 'start'));
  await done(cloud.api.ok('DELETE', `/instances/short-lived${q}`));
  const { items } = await cloud.api.ok('GET', '/hosts');
  await done(cloud.api.ok('POST', `/hosts/${items[0]?.id ?? ''}/actions/test`, {}));
  await eventually('the instance is seen to run', async () => (await cloud.instance('web')).state === 'running');
};

const main = async (): Promise<void> => {
  rmSync(recorded, { force: true });
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const env = { NODE_OPTIONS: `--require ${join(__dirname, 'tap.js')}`, WIRE_TAP_RECORD: recorded };
  const cloud = await TestCloud.start('compat', { managementEnv: env, computeEnv: env });
  try {
    await use(cloud);
    const state = join(cloud.directory, 'management', 'state', 'management');
    const client = new Client({
      host: join(cloud.directory, 'management', 'run', 'pg'),
      user: ownerRole,
      database: databaseName,
      password: readFileSync(join(cloud.directory, 'management', 'state', 'postgres', 'owner-password'), 'utf8'),
    });
    await client.connect();
    const database = await dump(client);
    await client.end();
    await cloud.host('h1').end();
    await cloud.management.end();
    const put = (name: string, value: unknown): void =>
      writeFileSync(join(target, name), `${JSON.stringify(value, null, 1)}\n`);
    put('database.json', database);
    keepFiles(cloud.stateOf('h1'), join(target, 'node', 'state'));
    keepFiles(join(cloud.directory, 'h1', 'run', 'c'), join(target, 'node', 'run'));
    mkdirSync(join(target, 'management'));
    for (const name of ['master.key', 'admin-password']) cpSync(join(state, name), join(target, 'management', name));
    const lines = readFileSync(recorded, 'utf8').trim().split('\n');
    put('messages.json', choose(lines.map((line) => JSON.parse(line) as Exchange)));
    put('contracts.json', await contracts());
  } finally {
    await cloud.close();
    rmSync(recorded, { force: true });
  }
};

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
