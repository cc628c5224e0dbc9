import { X509Certificate } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent as HttpAgent, request } from 'undici';
import { createSigningRequest, issueWithKey, createRoot } from '../../../src/core/m2m/ca/certificates';
import { CertificateAuthority } from '../../../src/core/m2m/ca/certificate-authority';
import { hostUri, managementUri } from '../../../src/core/m2m/ca/identity-uri';
import { decodeToken, encodeToken } from '../../../src/core/m2m/enrolment-token';
import { ServerIdentity } from '../../../src/core/m2m/ca/server-identity';
import { Config } from '../../../src/core/config/config';
import { StatePaths } from '../../../src/core/config/state-paths';
import { NodeCaller } from '../../../src/core/m2m/management/node-caller';
import { HttpsManagementClient } from '../../../src/core/m2m/node/https-management-client';
import { NodeIdentity } from '../../../src/core/m2m/node/node-identity';
import { MasterKey } from '../../../src/core/crypto/master-key';
import { HostService } from '../../../src/modules/host/management/hosts/host.service';
import { HostTokenService } from '../../../src/modules/host/management/tokens/host-token.service';
import { olderCertificate } from '../../support/older-certificate';
import { Management } from './harness';
import { Agent } from './agent-harness';
import { eventually } from './harness-parts';

jest.setTimeout(60_000);

let management: Management;
const agents: Agent[] = [];

const start = async (parts: Parameters<typeof Agent.start>[0]): Promise<Agent> => {
  const agent = await Agent.start(parts);
  agents.push(agent);
  return agent;
};

/** Any request to 8445 with any client certificate. */
const ask = async (
  path: string,
  body: unknown,
  client?: { certificate: string; key: string },
): Promise<{ status: number; json: { code?: string } & Record<string, unknown> }> => {
  const ca = await management.container.get(CertificateAuthority).rootPem();
  const dispatcher = new HttpAgent({
    connect: {
      ca,
      checkServerIdentity: () => undefined,
      ...(client ? { cert: client.certificate, key: client.key } : {}),
    },
  });
  try {
    const response = await request(`https://127.0.0.1:${management.port}${path}`, {
      method: 'POST',
      dispatcher,
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    return { status: response.statusCode, json: (await response.body.json()) as Record<string, unknown> };
  } finally {
    await dispatcher.destroy();
  }
};

const enrolBody = async (token: string, name: string) => {
  const { csr, key } = await createSigningRequest(name);
  return { key, body: { ticket: decodeToken(token)?.ticket, csr, name, address: '127.0.0.1', port: 9 } };
};

const beatOf = (hostId: string) => ({
  hostId,
  boot: '00000000-0000-4000-8000-000000000001',
  seq: 1,
  time: Date.now(),
  endpoint: { address: '127.0.0.1', port: 9 },
  agentVersion: 't',
  sections: {},
});

beforeAll(async () => {
  management = await Management.start();
});
afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.destroy()));
  await management.stop();
});

describe('enrolment', () => {
  it('joins with a token, keeps its key to itself, and becomes ready', async () => {
    const agent = await start({ name: 'alpha', token: await management.token() });
    const host = await eventually('ready', async () => {
      const found = await management.container.get(HostService).get(management.database.op, 'alpha');
      return found.state === 'ready' && found;
    });
    expect(host.id).toBe(agent.hostId);
    expect(host.schedulable).toBe(true);
    expect(host.address).toBe('127.0.0.1');
    expect(host.inventory?.cpu.threads).toBeGreaterThan(0);
    expect(host.capacity.vcpus).toBe((host.inventory?.cpu.threads ?? 0) * 4);
    expect(host.capacity.diskBytes).toBe(10e9);
    const file = join(agent.dir, 'identity', 'identity.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { key } = JSON.parse(readFileSync(file, 'utf8')) as { key: string };
    const everything = JSON.stringify(await management.database.query('SELECT * FROM certificate, host, host_token'));
    expect(everything).not.toContain(key.split('\n')[1]);
    const events = management.outbox.events.filter((e) => e.subject.id === agent.hostId).map((e) => e.data['state']);
    expect(events[0]).toBe('enrolling');
    expect(events.at(-1)).toBe('ready');
  });

  it('ignores the token of a host that has an identity', async () => {
    const first = await Agent.start({ name: 'again', token: await management.token() });
    await first.stop();
    const second = await start({ name: 'again', state: first.dir, token: 'vcsj_nonsense' });
    expect(second.hostId).toBe(first.hostId);
  });

  it('refuses a token the second time, an expired one, an unknown one and a damaged one, each with its code', async () => {
    const token = await management.token();
    await start({ name: 'first-use', token });
    await expect(start({ name: 'second-use', token })).rejects.toMatchObject({ code: 'token_used' });

    const old = await management.token();
    await management.database.query(`UPDATE host_token SET expires_at = now() - interval '1 second' WHERE id = $1`, [
      decodeToken(old)?.ticket.split('.')[0],
    ]);
    await expect(start({ name: 'late', token: old })).rejects.toMatchObject({ code: 'token_expired' });

    const real = decodeToken(await management.token());
    if (!real) throw new Error('no token');
    await expect(
      start({ name: 'guess', token: encodeToken({ ...real, ticket: `${real.ticket.slice(0, -4)}AAAA` }) }),
    ).rejects.toMatchObject({ code: 'token_unknown' });
    await expect(start({ name: 'broken', token: 'vcsj_!!!' })).rejects.toMatchObject({ code: 'bad_token' });
    await expect(start({ name: 'nothing', token: '' })).rejects.toMatchObject({ code: 'no_token' });
    expect(
      await management.database.query(
        `SELECT 1 FROM host WHERE name IN ('second-use', 'late', 'guess', 'broken', 'nothing')`,
      ),
    ).toEqual([]);
  });

  it('answers the same key again when the answer was lost', async () => {
    const { body } = await enrolBody(await management.token(), 'lost-answer');
    const first = await ask('/node/enroll', body);
    const second = await ask('/node/enroll', body);
    expect(first.status).toBe(200);
    expect(second.status).toBe(200);
    expect(second.json['hostId']).toBe(first.json['hostId']);
  });

  it('of twenty uses of one token at once exactly one wins', async () => {
    const token = await management.token();
    const answers = await Promise.all(
      Array.from({ length: 20 }, async (_, i) => ask('/node/enroll', (await enrolBody(token, `race-${i}`)).body)),
    );
    expect(answers.filter((a) => a.status === 200)).toHaveLength(1);
    expect(answers.filter((a) => a.json.code === 'token_used')).toHaveLength(19);
  });

  it('refuses a taken name and gives the token back', async () => {
    await start({ name: 'taken', token: await management.token() });
    const token = await management.token();
    await expect(start({ name: 'TAKEN', token })).rejects.toMatchObject({ code: 'name_taken' });
    await start({ name: 'not-taken', token });
  });

  it('does not talk to a management with another root', async () => {
    const token = decodeToken(await management.token());
    if (!token) throw new Error('no token');
    await expect(start({ token: encodeToken({ ...token, rootFingerprint: 'ab'.repeat(32) }) })).rejects.toMatchObject({
      code: 'wrong_root',
    });
  });

  it.each([
    ['malformed JSON', '{', 400, 'malformed_json'],
    ['a body over the limit', `"${'x'.repeat(70_000)}"`, 413, 'too_large'],
    ['a ticket that is none', { ticket: 'a', csr: '', name: 'c', address: 'd', port: 1 }, 400, 'invalid_request'],
    [
      'a signing request that is none',
      { ticket: 'a.b', csr: 'nonsense', name: 'c', address: 'd', port: 1, fieldOfNewerAgents: 1 },
      422,
      'invalid_csr',
    ],
  ])('answers %s with a problem', async (_what, body, status, code) => {
    expect(await ask('/node/enroll', body)).toMatchObject({ status, json: { code } });
  });

  it.each(['', 'x', '..', 'a.b', '00000000-0000-4000-8000-000000000000.x', '%00.%00', 'é.é'])(
    'answers the ticket %p with 400 or 401',
    async (ticket) => {
      const { body } = await enrolBody(await management.token(), 'bad-ticket');
      expect([400, 401]).toContain((await ask('/node/enroll', { ...body, ticket })).status);
    },
  );
});

describe('identity', () => {
  it('lets nobody in without a certificate of the installation', async () => {
    expect(await ask('/node/heartbeat', {})).toMatchObject({ status: 401, json: { code: 'certificate_required' } });
    const stranger = await issueWithKey(await createRoot('other'), {
      role: 'host',
      uri: hostUri('00000000-0000-4000-8000-000000000000'),
      hosts: [],
      validDays: 1,
    });
    expect(await ask('/node/heartbeat', {}, stranger)).toMatchObject({
      status: 401,
      json: { code: 'certificate_required' },
    });
  });

  it('refuses a heartbeat in the name of another host', async () => {
    const { key, body } = await enrolBody(await management.token(), 'liar');
    const { json } = await ask('/node/enroll', body);
    const client = { certificate: String(json['certificate']), key };
    expect(await ask('/node/heartbeat', beatOf(String(json['hostId'])), client)).toMatchObject({ status: 200 });
    expect(await ask('/node/heartbeat', beatOf('00000000-0000-4000-8000-000000000000'), client)).toMatchObject({
      status: 403,
      json: { code: 'wrong_identity' },
    });
  });

  it('refuses the certificate of a removed host, and one that is not on record', async () => {
    const agent = await start({ name: 'removed', token: await management.token() });
    await eventually(
      'seen',
      async () =>
        (await management.container.get(HostService).get(management.database.op, 'removed')).lastSeenAt !== null,
    );
    const client = agent.container.get(HttpsManagementClient);
    await management.database.tx((op) => management.container.get(HostService).remove(op, 'removed'));
    client.reset();
    await expect(client.post('/heartbeat', beatOf(agent.hostId))).rejects.toMatchObject({
      status: 403,
      code: 'certificate_revoked',
    });
    await management.database.query('DELETE FROM certificate WHERE host_id = $1', [agent.hostId]);
    client.reset();
    await expect(client.post('/heartbeat', beatOf(agent.hostId))).rejects.toMatchObject({
      status: 403,
      code: 'certificate_revoked',
    });
  });

  it('cuts off an open connection of a removed host', async () => {
    const agent = await start({ name: 'cut', token: await management.token() });
    const client = agent.container.get(HttpsManagementClient);
    await client.post('/events', { events: [] });
    await management.database.tx((op) => management.container.get(HostService).remove(op, 'cut'));
    // Nothing is sent meanwhile: the connection is closed by management itself.
    const checked = (management.gateway as unknown as { checked: Map<unknown, string> }).checked;
    const [row] = await management.database.query<{ serial: string }>(
      'SELECT serial FROM certificate WHERE host_id = $1',
      [agent.hostId],
    );
    await eventually('closed', () => ![...checked.values()].includes(row?.serial ?? ''));
    await eventually('refused', async () =>
      client.post('/events', { events: [] }).then(
        () => false,
        (e: { code?: string }) => e.code === 'certificate_revoked',
      ),
    );
  });

  it('renews a certificate: new key, same host, still let in', async () => {
    const agent = await start({ name: 'renewing', token: await management.token() });
    const identity = agent.container.get(NodeIdentity);
    const client = agent.container.get(HttpsManagementClient);
    const before = identity.current();
    expect(await identity.renewIfDue((path, body) => client.post(path, body))).toBe(false);
    expect(await identity.renewIfDue((path, body) => client.post(path, body), true)).toBe(true);
    const after = identity.current();
    expect(after.hostId).toBe(before.hostId);
    expect(after.key).not.toBe(before.key);
    await client.post('/events', { events: [] });
    await expect(
      management.container.get(NodeCaller).outcome(agent.hostId, { name: 'x.y' } as never, 'k'),
    ).rejects.toMatchObject({ code: 'unknown_key' });
  });

  it('ends the certificate before a renewed one with the first call of the new, and not before', async () => {
    const { key, body } = await enrolBody(await management.token(), 'twice');
    const { json } = await ask('/node/enroll', body);
    const hostId = String(json['hostId']);
    const first = { certificate: String(json['certificate']), key };
    const renewed = async (by: typeof first): Promise<typeof first> => {
      const { key: newKey, csr } = await createSigningRequest(hostId);
      const answer = await ask('/node/renew', { csr }, by);
      expect(answer.status).toBe(200);
      return { certificate: String(answer.json['certificate']), key: newKey };
    };
    // The host dies before it has stored the answer: it goes on with what it has, and asks again.
    const lost = await renewed(first);
    expect(await ask('/node/heartbeat', beatOf(hostId), first)).toMatchObject({ status: 200 });
    const second = await renewed(first);
    expect(await ask('/node/events', { events: [] }, first)).toMatchObject({ status: 200 });
    expect(await ask('/node/events', { events: [] }, second)).toMatchObject({ status: 200 });
    for (const old of [first, lost])
      expect(await ask('/node/events', { events: [] }, old)).toMatchObject({
        status: 403,
        json: { code: 'certificate_revoked' },
      });
    expect(await ask('/node/events', { events: [] }, second)).toMatchObject({ status: 200 });
  });

  it.each(['evil/@x?#', 'a b', 'http://x', 'x\u202e', '', 'a'.repeat(256)])(
    'refuses the address %j in a heartbeat as at enrolment',
    async (address) => {
      const { key, body } = await enrolBody(await management.token(), `address-${address.length}-x`);
      expect(await ask('/node/enroll', { ...body, address })).toMatchObject({
        status: 400,
        json: { code: 'invalid_request' },
      });
      const { json } = await ask('/node/enroll', body);
      const beat = { ...beatOf(String(json['hostId'])), endpoint: { address, port: 9 } };
      expect(await ask('/node/heartbeat', beat, { certificate: String(json['certificate']), key })).toMatchObject({
        status: 400,
        json: { code: 'invalid_request' },
      });
    },
  );

  it('renews at its next start a certificate of before roles, and is let in with it until then', async () => {
    const agent = await start({ name: 'veteran', token: await management.token() });
    await agent.stop();
    const file = join(agent.dir, 'identity', 'identity.json');
    const stored = JSON.parse(readFileSync(file, 'utf8')) as {
      key: string;
      certificate: string;
      root: string;
      hostId: string;
    };
    const [ca] = await management.database.query<{ sealed_key: string }>('SELECT sealed_key FROM ca');
    const rootKey = management.container
      .get(MasterKey)
      .open(ca?.sealed_key ?? '', 'ca-key')
      .toString();
    const older = await olderCertificate({ certificate: stored.root, key: rootKey }, stored.key, {
      commonName: 'veteran',
      uri: hostUri(stored.hostId),
    });
    await management.database.query(
      `INSERT INTO certificate (serial, host_id, expires_at) VALUES ($1, $2, now() + interval '30 days')`,
      [older.serial, stored.hostId],
    );
    writeFileSync(file, JSON.stringify({ ...stored, certificate: older.certificate }));
    const again = await start({ name: 'veteran', state: agent.dir });
    expect(again.hostId).toBe(stored.hostId);
    const certificate = await eventually('a new certificate', () => {
      const current = again.container.get(NodeIdentity).current().certificate;
      return current !== older.certificate && current;
    });
    expect(new X509Certificate(certificate).subject).toBe('O=VC Stack\nOU=host');
    await again.container.get(HttpsManagementClient).post('/events', { events: [] });
  });

  it('makes the server certificate anew when it is of before roles', async () => {
    const { container } = management;
    const fresh = (): ServerIdentity =>
      new ServerIdentity(container.get(CertificateAuthority), container.get(Config), container.get(StatePaths));
    const file = container.get(StatePaths).stateDir('tls', 'server.json');
    const text = readFileSync(file, 'utf8');
    const stored = JSON.parse(text) as { key: string; certificate: string; rootFingerprint: string };
    const [ca] = await management.database.query<{ certificate: string; sealed_key: string }>(
      'SELECT certificate, sealed_key FROM ca',
    );
    const rootKey = container
      .get(MasterKey)
      .open(ca?.sealed_key ?? '', 'ca-key')
      .toString();
    const older = await olderCertificate({ certificate: ca?.certificate ?? '', key: rootKey }, stored.key, {
      commonName: 'VC Stack management',
      uri: managementUri,
    });
    writeFileSync(
      file,
      JSON.stringify({ key: stored.key, certificate: older.certificate, rootFingerprint: stored.rootFingerprint }),
    );
    const identity = fresh();
    const made = await identity.start();
    writeFileSync(file, text);
    expect([
      new X509Certificate(made.certificate).subject,
      new X509Certificate(made.client.certificate).subject,
    ]).toEqual(['O=VC Stack\nOU=server', 'O=VC Stack\nOU=management']);
  });

  it('keeps the server certificate over a restart', async () => {
    const current = management.container.get(ServerIdentity).current();
    const { container } = management;
    const again = new ServerIdentity(
      container.get(CertificateAuthority),
      container.get(Config),
      container.get(StatePaths),
    );
    expect((await again.start()).certificate).toBe(current.certificate);
  });
});

describe('tokens', () => {
  it('stores only a hash and lists states', async () => {
    const tokens = management.container.get(HostTokenService);
    const issued = await tokens.issue(management.database.op, 5, 'me');
    const secret = decodeToken(issued.token)?.ticket.split('.')[1] ?? '';
    expect(JSON.stringify(await management.database.query('SELECT * FROM host_token'))).not.toContain(secret);
    expect((await tokens.list(management.database.op, { limit: 1 })).items[0]).toMatchObject({
      id: issued.id,
      state: 'open',
      createdBy: 'me',
    });
    await tokens.remove(management.database.op, issued.id);
    await expect(start({ token: issued.token })).rejects.toMatchObject({ code: 'token_unknown' });
    await expect(tokens.remove(management.database.op, issued.id)).rejects.toMatchObject({ status: 404 });
  });
});
