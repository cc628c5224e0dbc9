import { randomUUID } from 'node:crypto';
import type { Beat } from '../../../src/core/m2m/management/node-registry';
import { HostRepository } from '../../../src/modules/host/management/hosts/host.repository';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';

describe('heartbeats of many hosts in one statement', () => {
  let db: TestDatabase;
  const hosts = new HostRepository();
  const boot = randomUUID();

  beforeAll(async () => {
    db = await startTestDatabase();
  }, 60_000);
  afterAll(() => db.close());

  const made = async (): Promise<string> => {
    const id = randomUUID();
    await hosts.insert(db.database.op, {
      id,
      name: id,
      address: '192.0.2.1',
      port: 1,
      evaluation: { state: 'testing', schedulable: false, reason: '' },
    });
    return id;
  };
  const beat = (init: Partial<Beat> = {}): Beat => ({
    boot,
    seq: 5,
    time: Date.now(),
    endpoint: { address: '192.0.2.7', port: 8444 },
    agentVersion: '1.2.3',
    ...init,
  });

  it('takes what is newer, and nothing of hosts that are gone or have said something newer', async () => {
    const [one, two, three] = [await made(), await made(), await made()];
    const { op } = db.database;
    await hosts.beat(op, two, beat({ seq: 6 }));
    await hosts.beat(op, three, beat({ boot: randomUUID(), seq: 9 }));
    const taken = await hosts.beats(op, [
      { id: one, beat: beat({ time: Date.now() - 60_000 }) },
      { id: two, beat: beat({ agentVersion: 'older' }) },
      { id: three, beat: beat() },
      { id: randomUUID(), beat: beat() },
    ]);
    expect([...taken.keys()].sort()).toEqual([one, three].sort());
    expect(taken.get(one)).toMatchObject({ heartbeatOk: false, clockOk: true });
    expect(taken.get(one)?.behindMs).toBeGreaterThan(59_000);
    expect(taken.get(three)?.behindMs).toBeLessThan(30_000);
    expect(await hosts.endpoint(op, one)).toEqual({ address: '192.0.2.7', port: 8444 });
    expect(await hosts.abilities(op, two)).toMatchObject({ release: '1.2.3' });
  });

  it('waits for no host whose row somebody holds', async () => {
    const [held, free] = [await made(), await made()];
    const { database } = db;
    await database.tx(async (op) => {
      await op.query('SELECT 1 FROM host WHERE id = $1 FOR UPDATE', [held]);
      const taken = await hosts.beats(
        database.op,
        [held, free].map((id) => ({ id, beat: beat() })),
      );
      expect([...taken.keys()]).toEqual([free]);
    });
    expect(await hosts.beat(database.op, held, beat())).not.toBeNull();
  });
});
