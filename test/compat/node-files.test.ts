import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { Config } from '../../src/core/config/config';
import { coreConfigSchema } from '../../src/core/config/core-config';
import { StatePaths } from '../../src/core/config/state-paths';
import { RecordProblems } from '../../src/core/host/records/record-problems';
import { ManagementAddresses } from '../../src/core/m2m/node/management-addresses';
import { NodeIdentity } from '../../src/core/m2m/node/node-identity';
import { VerbJournal } from '../../src/core/m2m/node/verb-journal';
import { ManagementClient } from '../../src/core/m2m/management/node-route';
import { Logging } from '../../src/core/telemetry/logging';
import { ExitRecord } from '../../src/modules/compute/node/drivers/common/exit-record';
import { InstanceStore } from '../../src/modules/compute/node/instances/instance-store';
import { SeedStore } from '../../src/modules/compute/node/seeds/seed.store';
import { imageConfigSchema } from '../../src/modules/image/contract/image.config';
import { ImageStore } from '../../src/modules/image/node/image-store';
import { DocumentStore } from '../../src/modules/network/node/document.store';
import { LinuxStateStore } from '../../src/modules/network/node/drivers/linux/linux-state.store';
import { databaseOf, directoryOf, messagesOf, releases, verbOf } from './releases';

describe.each(releases)('files of an agent of %s', (release) => {
  const logging = new Logging(pino({ level: 'silent' }));
  const config = new Config(coreConfigSchema.parse({}), { image: imageConfigSchema.parse({}) });
  const { tables } = databaseOf(release);
  const ids = (table: string): unknown[] => (tables[table] ?? []).map((row) => row['id']).sort();
  let directory: string;
  let paths: StatePaths;
  let problems: RecordProblems;
  let store: InstanceStore;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'vc-compat-'));
    cpSync(join(directoryOf(release), 'node'), directory, { recursive: true });
    paths = new StatePaths(join(directory, 'state'), join(directory, 'run'));
    problems = new RecordProblems(logging);
    store = new InstanceStore(paths, problems);
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('tell of every instance, as management knows it', async () => {
    const { records, lost } = await store.load();
    expect([lost, problems.list()]).toEqual([[], []]);
    expect(records.map((r) => r.instanceId).sort()).toEqual(ids('instance'));
    for (const record of records) {
      const row = (tables['instance'] ?? []).find((one) => one['id'] === record.instanceId);
      expect(record).toMatchObject({ generation: row?.['generation'], power: row?.['power'] });
      expect(record.handle === null).toBe(row?.['state'] === 'stopped');
      expect(record.user).toBeGreaterThan(0);
      expect(await new SeedStore(store, problems).of(record.instanceId)).toMatchObject({ name: row?.['name'] });
    }
    expect(problems.list()).toEqual([]);
  });

  it('say how a stopped machine ended', async () => {
    const { records } = await store.load();
    const ended = records.filter((r) => r.handle === null);
    expect(ended.length).toBeGreaterThan(0);
    for (const { instanceId, exit } of ended)
      expect(await new ExitRecord(store.runDirectory(instanceId)).read()).toMatchObject({ cause: exit?.cause });
  });

  it('hold its networks', async () => {
    const document = await new DocumentStore(paths, problems).load();
    expect(document?.networks.flatMap((n) => n.ports.map((p) => p.id)).sort()).toEqual(ids('port'));
    expect(Object.keys((await new LinuxStateStore(paths).load()).links).length).toBeGreaterThan(0);
  });

  it('hold who it is', async () => {
    const identity = new NodeIdentity(paths, logging, new ManagementAddresses(config));
    const { hostId, key } = await identity.ensure('', { name: 'h1', address: '', port: 0 });
    expect([hostId, key]).toEqual([tables['host']?.[0]?.['id'], expect.stringContaining('PRIVATE KEY')]);
  });

  it('hold what it answered', async () => {
    const journal = new VerbJournal({ dir: paths.stateDir('journal') });
    expect(await journal.open()).toMatchObject({ tornBytes: 0, damaged: 0, emptied: false, newer: false });
    const answered = messagesOf(release).filter((m) => verbOf(m) !== undefined && m.request?.['key'] !== undefined);
    const known = answered.filter((m) => journal.result(String(m.request?.['key']))?.ok === true);
    expect(known.length).toBeGreaterThan(10);
    await journal.close();
  });

  it('know the images of its cache', async () => {
    const [file = ''] = readdirSync(paths.stateDir('images')).filter((name) => name.endsWith('.json'));
    const imageId = file.slice(0, -5);
    const { virtualBytes } = JSON.parse(readFileSync(paths.stateDir('images', file), 'utf8')) as {
      virtualBytes: number;
    };
    // Its bytes are no part of the fixtures.
    mkdirSync(paths.stateDir('images'), { recursive: true });
    writeFileSync(paths.stateDir('images', `${imageId}.raw`), '');
    truncateSync(paths.stateDir('images', `${imageId}.raw`), virtualBytes);
    const images = new ImageStore({} as ManagementClient, config, paths, logging);
    expect([await images.path(imageId), ids('image')]).toEqual([paths.stateDir('images', `${imageId}.raw`), [imageId]]);
  });
});
