import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as LiveServer } from 'socket.io';
import type { Connect, Plugin } from 'vite';
import { WebSocketServer } from 'ws';
import type { CreateInstance, Image, Instance, TaskDetail } from '../src/lib/types.ts';
import { worldFor } from './fake-data.mts';
import { ago, createSteps, step, task, type World } from './fake-parts.mts';

type Item = { id: string; name?: string; projectId?: string };
type Body = Record<string, unknown>;

class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
    readonly extra: Body = {},
  ) {
    super(detail);
  }
}

const worlds = new Map<string, World>();
const worldOf = (name: string): World => {
  const found = worlds.get(name) ?? worldFor(name);
  worlds.set(name, found);
  return found;
};

const lists: Record<string, keyof World> = {
  instances: 'instances',
  images: 'images',
  networks: 'networks',
  ports: 'ports',
  volumes: 'volumes',
  hosts: 'hosts',
  tasks: 'tasks',
  flavors: 'flavors',
  'ssh-keys': 'sshKeys',
  projects: 'projects',
  users: 'users',
  'api-tokens': 'apiTokens',
};
const listOf = (w: World, collection: string): Item[] => {
  const key = lists[collection];
  if (key === undefined) throw new Refusal(404, 'not_found', `There is nothing at /api/v1/${collection}.`);
  return w[key] as unknown as Item[];
};

let live: LiveServer | null = null;
const publish = (kind: string, verb: string, item: Item, data: object = item): void => {
  live?.emit('event', {
    seq: Date.now(),
    type: `${kind}.${verb}`,
    projectId: item.projectId ?? null,
    subject: { kind, id: item.id },
    data,
  });
};

/** Plays a task: each step takes `stepMs`; `end` gets the finished task. */
const play = (t: TaskDetail, stepMs: number, end: () => void): void => {
  t.state = 'running';
  t.startedAt = ago(0);
  let at = 0;
  const tick = (): void => {
    const current = t.steps[at];
    if (current?.state === 'running') {
      current.state = 'succeeded';
      current.endedAt = ago(0);
      at += 1;
    }
    const next = t.steps[at];
    t.progress = Math.round((at / t.steps.length) * 100);
    if (next === undefined) {
      t.state = 'succeeded';
      t.endedAt = ago(0);
      end();
    } else {
      next.state = 'running';
      next.startedAt = ago(0);
      t.step = next.name;
      t.stepTitle = next.title;
      setTimeout(tick, stepMs);
    }
    publish('task', 'updated', { id: t.id }, structuredClone(t));
  };
  tick();
};

const run = (
  w: World,
  type: string,
  i: Instance,
  steps: TaskDetail['steps'],
  to: Partial<Instance> | null,
): { instance: Instance; taskId: string } => {
  const t = task(type, { kind: 'instance', id: i.id, name: i.name }, i.projectId, steps, { createdBy: w.me.name });
  w.tasks.unshift(t);
  i.taskId = t.id;
  publish('task', 'created', { id: t.id });
  play(t, 450, () => {
    i.taskId = null;
    if (to === null) {
      w.instances = w.instances.filter((x) => x !== i);
      publish('instance', 'deleted', i);
    } else {
      Object.assign(i, to);
      publish('instance', 'updated', i);
    }
  });
  return { instance: i, taskId: t.id };
};

const createInstance = (w: World, body: CreateInstance, projectId: string): { instance: Instance; taskId: string } => {
  if (w.instances.some((i) => i.name === body.name && i.projectId === projectId))
    throw new Refusal(409, 'name_taken', `There is an instance "${body.name}" in this project already.`, {
      errors: [{ path: 'body.name', code: 'name_taken', message: 'taken by another instance' }],
    });
  const flavor = w.flavors.find((f) => f.id === body.flavor);
  const image = w.images.find((i) => i.id === body.image);
  const host = w.hosts[0];
  if (flavor === undefined || image === undefined || host === undefined)
    throw new Refusal(404, 'not_found', 'There is no such flavor or image.');
  if (flavor.vcpus > 16)
    throw new Refusal(409, 'no_host', 'No host can hold this flavor now.', {
      hosts: w.hosts.map((h) => ({
        hostId: h.id,
        host: h.name,
        fits: false,
        code: h.schedulable ? 'memory' : 'not_ready',
        reason: h.schedulable ? 'Needs 1536 GiB of memory; 98 GiB are free.' : `It is ${h.state}.`,
      })),
    });
  const i: Instance = {
    id: randomUUID(),
    projectId,
    name: body.name,
    hostname: body.name.toLowerCase().replace(/[^a-z0-9]+/g, '-'),
    description: body.description ?? '',
    state: 'building',
    stateReason: '',
    flavor: {
      id: flavor.id,
      name: flavor.name,
      vcpus: flavor.vcpus,
      memoryBytes: flavor.memoryBytes,
      diskBytes: flavor.diskBytes ?? 0,
    },
    image: { id: image.id, name: image.name },
    host: { id: host.id, name: host.name },
    ports: body.networks.map((n, k) => ({
      id: randomUUID(),
      networkId: n.network,
      network: w.networks.find((x) => x.id === n.network)?.name ?? '',
      mac: '52:54:00:aa:bb:01',
      address: n.address ?? `10.10.0.${100 + k}`,
    })),
    sshKeys: [],
    stopGraceSeconds: 30,
    configDrive: null,
    wantedVmm: null,
    vmm: null,
    taskId: null,
    createdAt: ago(0),
    startedAt: null,
    observedAt: null,
  };
  w.instances.unshift(i);
  publish('instance', 'created', i);
  return run(w, 'compute.create-instance', i, createSteps(host), {
    state: 'running',
    startedAt: ago(0),
    observedAt: ago(0),
    vmm: 'cloud-hypervisor 48.0',
  });
};

const act = (w: World, i: Instance, verb: string): unknown => {
  const on = { host: i.host };
  if (verb === 'console') return { ticket: randomUUID(), expiresIn: 30, path: '/console' };
  if (verb === 'start')
    return (
      Object.assign(i, { state: 'starting' }),
      run(
        w,
        'compute.start-instance',
        i,
        [step('start-vmm', 'Start the machine', on), step('mark', 'Record that it runs')],
        { state: 'running', startedAt: ago(0) },
      )
    );
  if (verb === 'stop')
    return (
      Object.assign(i, { state: 'stopping' }),
      run(
        w,
        'compute.stop-instance',
        i,
        [step('power-button', 'Ask the guest to stop', on), step('mark', 'Record that it is stopped')],
        { state: 'stopped', startedAt: null },
      )
    );
  return (
    Object.assign(i, { state: 'rebooting' }),
    run(
      w,
      'compute.reboot-instance',
      i,
      [step('reboot', 'Reboot the machine', on), step('mark', 'Record that it runs')],
      { state: 'running' },
    )
  );
};

const page = (items: Item[], query: URLSearchParams): unknown => {
  const limit = Number(query.get('limit') ?? 50);
  const from = Number(query.get('cursor') ?? 0);
  return { items: items.slice(from, from + limit), next: from + limit < items.length ? String(from + limit) : null };
};

const filtered = (items: Item[], collection: string, query: URLSearchParams): Item[] => {
  const wanted = (item: Item): boolean => {
    const x = item as Item & {
      state?: string;
      subject?: { id: string; name: string };
      ports?: { address: string }[];
      host?: { id: string } | null;
    };
    const state = query.get('state');
    if (
      query.has('project') &&
      x.projectId !== undefined &&
      x.projectId !== null &&
      x.projectId !== query.get('project')
    )
      return false;
    const q = query.get('q')?.toLowerCase() ?? '';
    const searched = [x.name, x.id, x.subject?.name, x.subject?.id, ...(x.ports ?? []).map((port) => port.address)];
    if (q !== '' && !searched.some((text) => text?.toLowerCase().includes(q) === true)) return false;
    if (
      state === 'live'
        ? !['queued', 'running', 'compensating', 'stuck'].includes(x.state ?? '')
        : state !== null && x.state !== state
    )
      return false;
    if (query.has('subject') && x.subject?.id !== query.get('subject')) return false;
    return !(collection === 'instances' && query.has('host') && x.host?.id !== query.get('host'));
  };
  const sort = query.get('sort');
  const kept = items.filter(wanted);
  if (sort === 'name' || sort === '-name')
    kept.sort((a, b) => (a.name ?? '').localeCompare(b.name ?? '') * (sort === 'name' ? 1 : -1));
  return kept;
};

const tokensFor = (name: string): unknown => ({
  accessToken: `${name}.${randomUUID()}`,
  expiresIn: 900,
  refreshToken: `${name}.${randomUUID()}`,
  refreshExpiresIn: 86_400,
});

const noun = (collection: string): string => collection.replace(/s$/, '');

const answer = (
  method: string,
  parts: string[],
  query: URLSearchParams,
  body: Body,
  who: string,
): { status: number; body?: unknown } => {
  const [collection = '', id, sub, verb] = parts;
  if (collection === 'login' && id === undefined) {
    if (body.password === 'wrong') throw new Refusal(401, 'bad_credentials', 'The name or the password is wrong.');
    return { status: 200, body: tokensFor(String(body.name)) };
  }
  if (collection === 'login') return { status: 200, body: tokensFor(String(body.refreshToken).split('.')[0] ?? '') };
  if (who === '') throw new Refusal(401, 'unauthenticated', 'Sign in first.');
  const w = worldOf(who);
  if (collection === 'events') return { status: 200, body: { seq: 1 } };
  if (collection === 'logout') return { status: 204 };
  if (collection === 'whoami')
    return {
      status: 200,
      body: { user: w.me, via: 'session', projects: w.projects.map((p) => ({ id: p.id, name: p.name, role: w.role })) },
    };
  if (collection === 'host-tokens')
    return {
      status: 201,
      body: {
        id: randomUUID(),
        token: 'vch_9c1…',
        expiresAt: ago(-1800),
        command:
          'curl --pinnedpubkey sha256//1Zq0hT9b2m5yQe -k https://10.0.4.10:8443/join.sh | sudo sh -s -- vch_9c1f0a4b7d2e48cfa1b3e5d7092c4f6a8b0d2e4f6a8c0b2d4f6e8a0c2d4e6f80',
      },
    };
  if (collection === 'projects' && sub === 'members') {
    if (method === 'GET') return { status: 200, body: { items: w.members, next: null } };
    if (method === 'DELETE') return ((w.members = w.members.filter((m) => m.userId !== verb)), { status: 204 });
    const member = w.members.find((m) => m.userId === verb || m.userName === verb) ?? {
      userId: randomUUID(),
      userName: String(verb),
      role: 'member' as const,
    };
    member.role = body.role as typeof member.role;
    if (!w.members.includes(member)) w.members.push(member);
    return { status: 200, body: member };
  }
  if (collection === 'users' && id === 'me')
    throw new Refusal(422, 'wrong_password', 'The current password is wrong.', {
      errors: [{ path: 'body.current', code: 'wrong_password', message: 'is wrong' }],
    });
  const items = listOf(w, collection);
  if (id === undefined) {
    if (method === 'GET') return { status: 200, body: page(filtered(items, collection, query), query) };
    const projectId = query.get('project') ?? w.projects[0]?.id ?? '';
    if (collection === 'instances')
      return { status: 202, body: createInstance(w, body as unknown as CreateInstance, projectId) };
    if (body.name === 'taken')
      throw new Refusal(409, 'name_taken', 'This name is taken.', {
        errors: [{ path: 'body.name', code: 'name_taken', message: 'taken' }],
      });
    const made = {
      ...body,
      id: randomUUID(),
      projectId,
      createdAt: ago(0),
      description: body.description ?? '',
      ...defaults(collection, body),
    } as Item;
    items.unshift(made);
    publish(noun(collection), 'created', made);
    return { status: 201, body: made };
  }
  if (collection === 'instances' && id === 'batch') {
    const several = body as unknown as CreateInstance & { count: number };
    const made = Array.from({ length: several.count }, (_, k) =>
      createInstance(
        w,
        { ...several, name: `${several.name}-${k + 1}` },
        query.get('project') ?? w.projects[0]?.id ?? '',
      ),
    );
    return { status: 202, body: { instances: made.map((m) => m.instance), taskId: made[0]?.taskId } };
  }
  if (collection === 'instances' && id === 'check') {
    if (w.flavors.find((f) => f.id === body.flavor)?.vcpus === 32)
      throw new Refusal(409, 'no_host', 'No host can hold this instance.');
    return { status: 200, body: { hostnames: [String(body.name).toLowerCase()] } };
  }
  const item = items.find((x) => x.id === id || x.name === id);
  if (item === undefined) throw new Refusal(404, 'not_found', `There is no ${noun(collection)} "${id}".`);
  if (sub === 'actions') {
    if (collection === 'tasks') return { status: 202, body: item };
    return { status: verb === 'console' ? 201 : 202, body: act(w, item as Instance, verb ?? '') };
  }
  if (sub === 'content')
    return (
      Object.assign(item as Image, {
        state: 'ready',
        virtualBytes: 64 * 1024 ** 2,
        sourceBytes: 64 * 1024 ** 2,
        sha256: 'ab'.repeat(32),
      }),
      { status: 200, body: item }
    );
  if (method === 'PATCH') {
    if (collection === 'hosts')
      Object.assign(
        item,
        body.maintenance === true
          ? { state: 'maintenance', schedulable: false }
          : { state: 'ready', schedulable: true },
      );
    else Object.assign(item, body);
    publish(noun(collection), 'updated', item);
  }
  if (method === 'DELETE') {
    if (collection === 'instances')
      return (
        Object.assign(item, { state: 'deleting' }),
        {
          status: 202,
          body: run(
            w,
            'compute.delete-instance',
            item as Instance,
            [step('absent', 'Remove the machine'), step('release', 'Release disk and addresses')],
            null,
          ),
        }
      );
    if (collection === 'networks')
      throw new Refusal(409, 'in_use', 'Instances still use this network: web-1, web-2 and 7 more.');
    items.splice(items.indexOf(item), 1);
    publish(noun(collection), 'deleted', item);
    return { status: 204 };
  }
  return { status: 200, body: item };
};

const defaults = (collection: string, body: Body): Body => {
  if (collection === 'images')
    return {
      state: body.url === undefined ? 'queued' : 'importing',
      message: '',
      public: body.public ?? false,
      sourceFormat: null,
      sourceBytes: null,
      virtualBytes: null,
      sha256: null,
      architecture: 'x86_64',
      taskId: null,
    };
  if (collection === 'networks')
    return {
      gateway: String(body.subnet).replace(/\.0\/\d+$/, '.1'),
      dns: [],
      mtu: 1500,
      guestEgress: body.nat === false ? null : { allow: [], deny: [] },
      addresses: { total: 253, used: 0 },
    };
  if (collection === 'ssh-keys')
    return { type: 'ssh-ed25519', fingerprint: 'SHA256:n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg' };
  if (collection === 'users') return { enabled: true };
  if (collection === 'api-tokens')
    return { token: `vct_${randomUUID()}`, expiresAt: ago(-86_400 * 90), lastUsedAt: null };
  return {};
};

const readBody = async (req: IncomingMessage): Promise<Body> => {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  if (!(req.headers['content-type'] ?? '').includes('json')) return {};
  return JSON.parse(Buffer.concat(chunks).toString() || '{}') as Body;
};

const handle = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
  const target = new URL(req.url ?? '/', 'http://self');
  const requestId = randomUUID();
  const give = (status: number, body?: unknown): void => {
    res.writeHead(status, { 'content-type': 'application/json', 'x-request-id': requestId });
    res.end(body === undefined ? undefined : JSON.stringify(body));
  };
  try {
    const who = /^Bearer (.*)\.[^.]+$/.exec(req.headers.authorization ?? '')?.[1] ?? '';
    const made = answer(
      req.method ?? 'GET',
      target.pathname.split('/').slice(3).map(decodeURIComponent),
      target.searchParams,
      await readBody(req),
      who,
    );
    await new Promise((resolve) => setTimeout(resolve, 60));
    give(made.status, made.body);
  } catch (error) {
    if (error instanceof Refusal)
      give(error.status, { status: error.status, code: error.code, detail: error.message, requestId, ...error.extra });
    else
      give(500, {
        status: 500,
        code: 'internal_error',
        detail: error instanceof Error ? error.message : 'failed',
        requestId,
      });
  }
};

const greeting =
  '\x1b[2J\x1b[H[    0.000000] Linux version 6.1.0-28-cloud-amd64\r\n[    0.214711] virtio_net virtio1 eth0: link becomes ready\r\n[    1.902114] cloud-init: \x1b[32mfinished\x1b[0m at 1.90 s\r\n\r\nweb-1 login: \x1b[1mroot\x1b[0m\r\nroot@web-1:~# ip -brief address\r\nlo      \x1b[36mUNKNOWN\x1b[0m  127.0.0.1/8\r\neth0    \x1b[32mUP\x1b[0m       10.10.0.11/24\r\nroot@web-1:~# ';

const attachSockets = (server: Server): void => {
  live = new LiveServer(server, { path: '/api/v1/live', destroyUpgrade: false });
  live.on('connection', (socket) => socket.emit('ready', { seq: Date.now() }));
  const consoles = new WebSocketServer({ noServer: true });
  consoles.on('connection', (socket) => {
    socket.send(Buffer.from(greeting));
    socket.on('message', (data: Buffer, binary) => {
      if (binary) socket.send(Buffer.from(data.toString().replace(/\r/g, '\r\nroot@web-1:~# ')));
    });
  });
  server.on('upgrade', (req, socket, head) => {
    if (req.url?.startsWith('/api/v1/console') === true)
      consoles.handleUpgrade(req, socket, head, (ws) => consoles.emit('connection', ws, req));
  });
};

const mount = (middlewares: Connect.Server, server: Server): void => {
  middlewares.use((req, res, next) => {
    if (req.url === '/health') res.end('{}');
    else if (req.url?.startsWith('/api/v1/') === true && !req.url.startsWith('/api/v1/live')) void handle(req, res);
    else next();
  });
  attachSockets(server);
};

/** A pretended management, for looking at the console without one. Only with `--mode fake`; never part of a build. */
export function fakeApi(): Plugin {
  return {
    name: 'vcs-fake-api',
    configureServer(server) {
      if (server.httpServer !== null) mount(server.middlewares, server.httpServer as Server);
    },
    configurePreviewServer(server) {
      mount(server.middlewares, server.httpServer as Server);
    },
  };
}
