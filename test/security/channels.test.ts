import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { Channels } from '../../src/core/auth/channels/channels';
import type { ManagementApp } from '../../src/core/app/management-app';
import { StreamHandlers, type StreamHandler } from '../../src/core/m2m/management/node-route';
import { Agent } from '../integration/m2m/agent-harness';
import type { ApiClient } from '../support/api-client';
import { waitFor } from '../support/wait-for';
import { ManagementStack, passwordOf } from './management-stack';
import { openConsole, openEvents, openLive, openUpload, openWait, type OpenChannel } from './open-channels';

jest.setTimeout(120_000);

/** Stands in for a guest's serial line and its screen: what is typed comes back. */
class EchoLine extends StreamHandlers {
  readonly typed: string[] = [];
  override streams(): StreamHandler[] {
    const open: StreamHandler['open'] = async () => (stream: Duplex) => {
      stream.on('data', (chunk: Buffer) => {
        this.typed.push(chunk.toString());
        stream.write(chunk);
      });
    };
    return ['console', 'vnc', 'vsock/:port'].map((way) => ({ path: `/streams/instances/:id/${way}`, open }));
  }
}

interface Member {
  name: string;
  project: string;
  projectId: string;
  instanceId: string;
  taskId: string;
  client: ApiClient;
}

describe('what is open', () => {
  let first: ManagementStack;
  let second: ManagementStack;
  let agent: Agent;
  const line = new EchoLine();
  const opened: OpenChannel[] = [];
  let next = 0;

  beforeAll(async () => {
    first = await ManagementStack.start();
    second = await ManagementStack.start({}, first);
    const { token } = await first.admin.ok('POST', '/host-tokens', {});
    agent = await Agent.start({ token, streams: [line], name: 'echo-host' });
    await waitFor('the host', async () => (await first.admin.ok('GET', '/hosts')).items[0]?.lastSeenAt);
    // From here on only what is told counts: nobody looks again by the clock.
    for (const { app } of [first, second])
      clearInterval((channelsOf(app) as unknown as { timer: NodeJS.Timeout }).timer);
  });
  afterAll(async () => {
    for (const channel of opened) channel.close();
    await agent?.destroy();
    await second?.close();
    await first?.close();
  });

  const channelsOf = (app: ManagementApp): Channels =>
    (app as unknown as { parts(): { get(c: typeof Channels): Channels } }).parts().get(Channels);

  /** A user with a project, an instance on the host and a task that is not over. */
  const member = async (role: 'project-admin' | 'member' | 'viewer' = 'member'): Promise<Member> => {
    const name = `user-${(next += 1)}`;
    const { id: projectId } = await first.admin.ok('POST', '/projects', { name: `project-${next}` });
    const project = `project-${next}`;
    const client = await first.user(name, { [project]: role });
    const [instanceId, taskId] = [randomUUID(), randomUUID()];
    await first.db.database.query(
      `INSERT INTO instance (id, project_id, name, hostname, machine, description, flavor_id, flavor_name, vcpus, memory_bytes, disk_bytes, image_id, image_name, architecture, nics, ssh_keys, user_data, stop_grace_seconds, host_id, vmm, state, power, created_by)
       VALUES ($1, $2, $3, 'vm', '{"vsock": true}', '', $1, 'tiny', 1, 1, 1, $1, 'image', 'x86_64', '[]', '[]', '', 30, $4, 'qemu', 'running', 'on', 'test')`,
      [instanceId, projectId, `vm-${next}`, agent.hostId],
    );
    await first.db.database.query(
      `INSERT INTO task (id, type, version, project_id, subject_kind, subject_id, subject_name, state, input, deadline_ms, created_by, wake_at) VALUES ($1, 'instance.start', 1, $2, 'instance', $3, 'vm', 'queued', '{}', 1000, 'test', now() + interval '1 year')`,
      [taskId, projectId, instanceId],
    );
    return { name, project, projectId, instanceId, taskId, client };
  };

  const held = ({ app }: ManagementStack): number =>
    [...(channelsOf(app) as unknown as { entries: Set<{ claim: { kind: string } }> }).entries].filter(
      ({ claim }) => claim.kind === 'wait',
    ).length;

  const at = (stack: ManagementStack, client: ApiClient): ApiClient => stack.client(client.token);

  const ticket = async (who: Member, client = who.client, protocol: 'serial' | 'vnc' = 'serial'): Promise<string> =>
    (await client.ok('POST', `/instances/${who.instanceId}/actions/console`, { protocol })).path;

  const port = async (who: Member, client = who.client): Promise<string> =>
    (await client.ok('POST', `/instances/${who.instanceId}/actions/vsock`, { port: 22 })).path;

  /** All kinds at both processes. */
  const openAll = async (who: Member, credential: ApiClient = who.client): Promise<OpenChannel[]> => {
    const all: OpenChannel[] = [];
    const before = [first, second].map(held);
    for (const stack of [first, second]) {
      const client = at(stack, credential);
      for (const [kind, protocol] of [
        ['console', 'serial'],
        ['vnc', 'vnc'],
        ['vsock', null],
      ] as const) {
        const path = protocol === null ? await port(who, client) : await ticket(who, client, protocol);
        const console = await openConsole(client, path, kind);
        console.send('hello');
        await waitFor('the echo', () => console.received.includes('hello'));
        all.push(console);
      }
      all.push(
        await openEvents(client, `?project=${who.project}`),
        await openLive(client),
        await openUpload(client, who.project, `image-${(next += 1)}`),
        openWait(client, who.taskId),
      );
    }
    // A request that is held says nothing, so its registration is looked for.
    await waitFor('all channels', () => [first, second].every((stack, i) => held(stack) > (before[i] ?? 0)));
    opened.push(...all);
    return all;
  };

  /** Kind by kind how the channels at both processes ended, or that they are open. */
  const outcome = async (channels: readonly OpenChannel[], expected: Record<string, string>): Promise<void> => {
    await waitFor(`the channels to end: ${JSON.stringify(channels.map((c) => [c.kind, c.over]))}`, () =>
      channels.every((c) => expected[c.kind] === 'open' || c.over !== undefined),
    ).catch(() => undefined);
    const seen = channels.map((c) => ({ [c.kind]: c.over ?? 'open' }));
    expect(seen).toEqual(channels.map((c) => ({ [c.kind]: expected[c.kind] })));
  };
  const all = (code: string): Record<string, string> => ({
    console: code,
    vnc: code,
    vsock: code,
    events: code,
    live: code,
    upload: code,
    wait: code,
  });

  it('ends at both processes when its session is logged out, and only what stands on that session', async () => {
    const who = await member();
    const other = first.client();
    await other.login(who.name, passwordOf(who.name));
    const channels = await openAll(who);
    const others = await openAll(who, other);
    const kept = await ticket(who);
    await who.client.ok('POST', '/logout');
    await outcome(channels, all('unauthenticated'));
    expect(others.map((c) => c.over)).toEqual(others.map(() => undefined));
    for (const stack of [first, second]) expect((await openConsole(at(stack, who.client), kept)).over).toBe('401');
  });

  it('ends when its user is disabled', async () => {
    const who = await member();
    const channels = await openAll(who);
    const kept = await ticket(who);
    await first.admin.ok('PATCH', `/users/${who.name}`, { enabled: false });
    await outcome(channels, all('unauthenticated'));
    expect((await openConsole(at(second, who.client), kept)).over).toBe('401');
    await waitFor('the images to wait for their bytes again', async () =>
      (await first.admin.ok('GET', `/images?project=${who.project}`)).items.every((image) => image.state === 'queued'),
    );
  });

  it('ends when its user is deleted', async () => {
    const who = await member();
    const channels = await openAll(who);
    await first.admin.ok('DELETE', `/users/${who.name}`);
    await outcome(channels, all('unauthenticated'));
  });

  it('ends when the password is changed elsewhere, and stays for the session that changed it', async () => {
    const who = await member();
    const other = first.client();
    await other.login(who.name, passwordOf(who.name));
    const channels = await openAll(who);
    const own = await openAll(who, other);
    await other.ok('POST', '/users/me/password', { current: passwordOf(who.name), password: 'a quite different one' });
    await outcome(channels, all('unauthenticated'));
    expect(own.map((c) => c.over)).toEqual(own.map(() => undefined));
    await first.admin.ok('PATCH', `/users/${who.name}`, { password: 'set by the admin again' });
    await outcome(own, all('unauthenticated'));
  });

  it('ends when its API token is deleted, and not for the session beside it', async () => {
    const who = await member();
    const made = await who.client.ok('POST', '/api-tokens', { name: 'robot' });
    const channels = await openAll(who, first.client(made.token));
    const kept = await ticket(who, first.client(made.token));
    const own = await openAll(who);
    await who.client.ok('DELETE', `/api-tokens/${made.id}`);
    await outcome(channels, all('unauthenticated'));
    expect(own.map((c) => c.over)).toEqual(own.map(() => undefined));
    expect((await openConsole(at(second, who.client), kept)).over).toBe('401');
  });

  it('ends when the membership is taken away; live events go on without that project', async () => {
    const who = await member();
    const channels = await openAll(who);
    const kept = await ticket(who);
    await first.admin.ok('DELETE', `/projects/${who.project}/members/${who.name}`);
    await outcome(channels, {
      console: 'forbidden',
      vnc: 'forbidden',
      vsock: 'forbidden',
      events: 'forbidden',
      live: 'open',
      upload: 'forbidden',
      wait: 'forbidden',
    });
    expect((await openConsole(at(second, who.client), kept)).over).toBe('403');
    // Each server tells by what is so when the event comes to it: both have told it before the membership is back.
    const watches = await Promise.all([first.admin, at(second, first.admin)].map((admin) => openLive(admin)));
    opened.push(...watches);
    const lives = channels.filter((c) => c.kind === 'live');
    await waitFor('word that it sees less', () => lives.every((c) => c.rights === 1));
    const before = lives.map((c) => c.received);
    await first.admin.ok('PATCH', `/projects/${who.project}`, { description: 'nothing that it may see' });
    await waitFor('the event', () => watches.every((watch) => watch.received.includes('nothing that it may see')));
    await first.admin.ok('PUT', `/projects/${who.project}/members/${who.name}`, { role: 'viewer' });
    // What came until then is to be asked for, and is not told.
    await waitFor('word that it sees more', () => lives.every((c) => c.rights === 2));
    await first.admin.ok('PATCH', `/projects/${who.project}`, { description: 'what it sees again' });
    await waitFor('the later event', () => lives.every((c) => c.received.includes('what it sees again')));
    lives.forEach((c, i) => expect(c.received.slice(before[i]?.length)).not.toContain('nothing that it may see'));
  });

  it('ends where a lower role does not allow it', async () => {
    const who = await member();
    const channels = await openAll(who);
    await first.admin.ok('PUT', `/projects/${who.project}/members/${who.name}`, { role: 'viewer' });
    await outcome(channels, {
      console: 'forbidden',
      vnc: 'forbidden',
      vsock: 'forbidden',
      events: 'open',
      live: 'open',
      upload: 'forbidden',
      wait: 'open',
    });
  });

  it('ends for an admin who is one no longer', async () => {
    const who = await member();
    await first.admin.ok('POST', '/users', { name: 'second-admin', password: passwordOf('second-admin'), admin: true });
    const boss = first.client();
    await boss.login('second-admin', passwordOf('second-admin'));
    const channels = await openAll(who, boss);
    await first.admin.ok('PATCH', '/users/second-admin', { admin: false });
    await outcome(channels, {
      console: 'forbidden',
      vnc: 'forbidden',
      vsock: 'forbidden',
      events: 'forbidden',
      live: 'open',
      upload: 'forbidden',
      wait: 'forbidden',
    });
  });

  it('ends when its instance is deleted, and its tickets open nothing', async () => {
    const who = await member();
    const channels = (await openAll(who)).filter((c) => ['console', 'vnc', 'vsock'].includes(c.kind));
    const kept = await ticket(who);
    await first.db.database.tx(async (op) => {
      await op.query('DELETE FROM instance WHERE id = $1', [who.instanceId]);
      await op.query(`INSERT INTO outbox (type, project_id, subject, data) VALUES ('instance.deleted', $1, $2, '{}')`, [
        who.projectId,
        JSON.stringify({ kind: 'instance', id: who.instanceId }),
      ]);
    });
    await outcome(channels, { console: 'gone', vnc: 'gone', vsock: 'gone' });
    expect((await openConsole(at(second, who.client), kept)).over).toBe('401');
  });

  it('ends when its project is deleted', async () => {
    await first.admin.ok('POST', '/projects', { name: 'short' });
    const client = await first.user('short-user', { short: 'viewer' });
    const streams = [
      await openEvents(at(first, client), '?project=short'),
      await openEvents(at(second, client), '?project=short'),
      await openEvents(at(second, first.admin), '?project=short'),
    ];
    opened.push(...streams);
    await first.admin.ok('DELETE', '/projects/short');
    await waitFor('the streams to end', () => streams.every((c) => c.over));
    expect(streams[2]?.over).toBe('gone');
    // Which of the two causes is told first is open: the membership went with the project.
    for (const stream of streams.slice(0, 2)) expect(['forbidden', 'gone']).toContain(stream.over);
  });

  it('takes a ticket for what it was given out for, and once', async () => {
    const who = await member();
    const serial = await ticket(who);
    const vnc = await ticket(who, who.client, 'vnc');
    const vsock = await port(who);
    for (const path of [
      serial.replace('/console?', '/vnc?'),
      vnc.replace('/vnc?', '/console?'),
      vsock.replace('/vsock?', '/console?'),
      `${serial.replace('/console?', '/vsock?')}&port=22`,
      vsock.replace('port=22', 'port=4294967295'),
      vsock.replace('&port=22', ''),
    ])
      expect((await openConsole(who.client, path)).over).toBe('401');
    const screen = await openConsole(who.client, vnc, 'vnc');
    opened.push(screen);
    expect(screen.over).toBeUndefined();
    expect((await openConsole(at(second, who.client), vnc, 'vnc')).over).toBe('401');
  });

  it.each(['serial', 'vnc'] as const)('lets nothing more through to a guest once it is cut: %s', async (protocol) => {
    const who = await member();
    const client = at(second, who.client);
    const console = await openConsole(client, await ticket(who, client, protocol));
    opened.push(console);
    console.send('before');
    await waitFor('the echo', () => console.received.includes('before'));
    const typing = setInterval(() => console.send('x-after'), 1);
    await first.db.database.query(
      'UPDATE session SET revoked_at = now() WHERE user_id = (SELECT id FROM app_user WHERE name = $1)',
      [who.name],
    );
    await console.ended;
    clearInterval(typing);
    const typed = line.typed.length;
    const other = await member();
    const witness = await openConsole(other.client, await ticket(other));
    opened.push(witness);
    witness.send('witness');
    await waitFor('the echo', () => witness.received.includes('witness'));
    expect(line.typed.slice(typed).join('')).toBe('witness');
  });

  it('is found out by the next look when nobody tells', async () => {
    const who = await member();
    const channels = await openAll(who);
    await first.db.database.query('ALTER TABLE project_member DISABLE TRIGGER project_member_authority');
    await first.admin.ok('DELETE', `/projects/${who.project}/members/${who.name}`);
    await first.db.database.query('ALTER TABLE project_member ENABLE TRIGGER project_member_authority');
    for (const { app } of [first, second]) (channelsOf(app) as unknown as { wake(userId: null): void }).wake(null);
    await outcome(channels, {
      console: 'forbidden',
      vnc: 'forbidden',
      vsock: 'forbidden',
      events: 'forbidden',
      live: 'open',
      upload: 'forbidden',
      wait: 'forbidden',
    });
  });

  it('is limited per user, whatever its kind', async () => {
    const who = await member();
    const lives = await Promise.all(Array.from({ length: 50 }, () => openLive(who.client)));
    opened.push(...lives);
    await expect(openLive(who.client)).rejects.toThrow('too_many_streams');
    lives[0]?.close();
    opened.push(await waitFor('a place', () => openLive(who.client).catch(() => undefined)));
  });
});
