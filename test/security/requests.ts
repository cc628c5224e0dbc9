import { randomUUID } from 'node:crypto';
import { passwordOf, type ManagementStack } from './management-stack';
import { bzImage, initramfs } from '../integration/image/boot-files';
import type { Identity } from './identities';

/** One request of a cell. The objects that it names are made for it alone, so that no cell depends on another one. */
export interface CellRequest {
  /** With its query. */
  path: string;
  body?: unknown;
  /** For a list: the id that must be in it for the caller to have seen it. */
  sees?: string;
  /** Codes of 409 and 422 that the request ends with when it was allowed: there is no host, say. */
  allowed?: string[];
  /** Uses up the caller's session: it is made with a new one. */
  endsSession?: boolean;
}

type Make = (stack: ManagementStack, who: Identity) => Promise<CellRequest>;

const name = (): string => `n${randomUUID().slice(0, 8)}`;
const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIQ6YGHAn48JdGZEOQJX2kCmpXGYoN7JmVuJqxZcRVdC somebody';
/** The smallest thing that a firmware would take for a disk: a boot sector with one partition. */
const disk = (): Buffer => {
  const bytes = Buffer.alloc(65_536);
  Buffer.from([0x80, 0, 2, 0, 0x83, 0, 2, 0, 1, 0, 0, 0, 127, 0, 0, 0]).copy(bytes, 446);
  bytes.writeUInt16BE(0x55aa, 510);
  return bytes;
};

const network = async (stack: ManagementStack): Promise<string> =>
  (await stack.admin.ok('POST', '/networks?project=red', { name: name(), subnet: '10.0.0.0/24' })).id;
/** One of a network of its own. */
const subnet = async (stack: ManagementStack): Promise<string> =>
  (
    await stack.admin.ok('POST', '/subnets?project=red', {
      network: (await stack.admin.ok('POST', '/networks?project=red', { name: name() })).id,
      name: name(),
      cidr: '10.0.0.0/24',
    })
  ).id;
const router = async (stack: ManagementStack): Promise<string> =>
  (await stack.admin.ok('POST', '/routers?project=red', { name: name() })).id;
/** A project has not as many as there are cells: those before it, which nobody needs any more, make room. */
const securityGroup = async (stack: ManagementStack): Promise<string> => {
  await stack.db.database.query('DELETE FROM security_group WHERE NOT is_default');
  return (await stack.admin.ok('POST', '/security-groups?project=red', { name: name() })).id;
};
const image = async (stack: ManagementStack): Promise<string> =>
  (await stack.admin.ok('POST', '/images?project=red', { name: name() })).id;
const kernelImage = async (stack: ManagementStack): Promise<string> =>
  (await stack.admin.ok('POST', '/images?project=red', { name: name(), kernel: {} })).id;
const sshKey = async (stack: ManagementStack): Promise<string> =>
  (await stack.admin.ok('POST', '/ssh-keys?project=red', { name: name(), publicKey })).id;
const flavor = async (stack: ManagementStack): Promise<string> =>
  (await stack.admin.ok('POST', '/flavors', { name: name(), vcpus: 1, memoryBytes: 2 ** 28 })).id;
const project = async (stack: ManagementStack): Promise<string> =>
  (await stack.admin.ok('POST', '/projects', { name: name() })).id;
const hostToken = async (stack: ManagementStack): Promise<string> =>
  (await stack.admin.ok('POST', '/host-tokens', {})).id;
const red = async (stack: ManagementStack): Promise<string> => (await stack.admin.ok('GET', '/projects/red')).id;

/** Nobody can log in as them: so many passwords take long to hash. */
const user = async (stack: ManagementStack): Promise<string> => {
  const id = randomUUID();
  await stack.db.database.query(`INSERT INTO app_user (id, name, password_hash) VALUES ($1, $2, 'none')`, [id, name()]);
  return id;
};

const userWithSession = async (stack: ManagementStack): Promise<{ id: string; session: string }> => {
  const [id, session] = [await user(stack), randomUUID()];
  await stack.db.database.query(
    `INSERT INTO session (id, user_id, expires_at) VALUES ($1, $2, now() + interval '1 day')`,
    [session, id],
  );
  return { id, session };
};
const apiToken = async (stack: ManagementStack, owner: string): Promise<string> => {
  const id = randomUUID();
  await stack.db.database.query(
    `INSERT INTO api_token (id, user_id, name, hash) SELECT $1::uuid, id, 'of ' || $1::text, '\\x00' FROM app_user WHERE name = $2`,
    [id, owner],
  );
  return id;
};

/** As one is after its host was lost: there, with no host and no task. */
const instance = async (stack: ManagementStack): Promise<string> => {
  const id = randomUUID();
  await stack.db.database.query(
    `INSERT INTO instance (id, project_id, name, hostname, description, flavor_id, flavor_name, vcpus, memory_bytes, disk_bytes, image_id, image_name, architecture, nics, ssh_keys, user_data, stop_grace_seconds, state, power, created_by)
     VALUES ($1, $2, $3, $3, '', $1, 'f', 1, 268435456, 0, $1, 'i', 'x86_64', '[]', '[]', '', 30, 'stopped', 'off', 'test')`,
    [id, await red(stack), name()],
  );
  return id;
};
const task = async (stack: ManagementStack, state = 'succeeded'): Promise<string> => {
  const id = randomUUID();
  await stack.db.database.query(
    `INSERT INTO task (id, type, version, project_id, subject_kind, subject_id, subject_name, state, input, deadline_ms, created_by) VALUES ($1, 'host.sync-network', 1, $2, 'thing', $1, 't', $3, '{}', 1, 'test')`,
    [id, await red(stack), state],
  );
  return id;
};
const volume = async (stack: ManagementStack): Promise<string> => {
  const id = randomUUID();
  await stack.db.database.query(
    `INSERT INTO volume (id, project_id, name, role, state, bytes, pool, host_id, instance_id, image_id) VALUES ($1, $2, 'v', 'root', 'in-use', 4096, 'local', $1, $1, $1)`,
    [id, await red(stack)],
  );
  return id;
};
const dataVolume = async (stack: ManagementStack): Promise<string> => {
  const id = randomUUID();
  await stack.db.database.query(
    `INSERT INTO volume (id, project_id, name, role, state, bytes, pool, host_id) VALUES ($1::uuid, $2, $1::text, 'data', 'available', 4096, 'local', $1::uuid)`,
    [id, await red(stack)],
  );
  return id;
};
const port = async (stack: ManagementStack): Promise<string> => {
  const id = randomUUID();
  const mac = `02:00:${id.match(/../g)?.slice(0, 4).join(':') ?? ''}`;
  await stack.db.database.query(
    `INSERT INTO port (id, project_id, network_id, instance_id, host_id, hostname, position, mac, address) VALUES ($1, $2, $3, $1, $1, 'h', 0, $4, '10.0.0.9')`,
    [id, await red(stack), await network(stack), mac],
  );
  return id;
};
const host = async (stack: ManagementStack): Promise<string> => {
  const id = randomUUID();
  await stack.db.database.query(
    `INSERT INTO host (id, name, address, port, state, schedulable, state_reason) VALUES ($1, $2, '192.0.2.1', 8444, 'unknown', false, '')`,
    [id, `h-${id.slice(0, 8)}`],
  );
  return id;
};
const instanceBody = async (stack: ManagementStack): Promise<Record<string, unknown>> => {
  const ready = await image(stack);
  await stack.db.database.query(
    `UPDATE image SET state = 'ready', sha256 = repeat('0', 64), virtual_bytes = 4096, source_format = 'raw' WHERE id = $1`,
    [ready],
  );
  return { name: name(), flavor: await flavor(stack), image: ready, networks: [{ network: await network(stack) }] };
};
/** Of a security group made for it. */
const ofGroup =
  (rest: string, body?: unknown): Make =>
  async (s) => ({ path: `/security-groups/${await securityGroup(s)}${rest}`, ...(body !== undefined && { body }) });
/** A list of one noun, over all projects and in one. */
const list = (path: string, make: (stack: ManagementStack) => Promise<string>): Record<string, Make> => ({
  [`GET ${path}`]: async (s) => ({ path: `${path}?limit=500`, sees: await make(s) }),
  [`GET ${path}?project=red`]: async (s) => ({ path: `${path}?limit=500&project=red`, sees: await make(s) }),
});
const taskVerb = (verb: string, state: string): Record<string, Make> => ({
  [`POST /tasks/{id}/actions/${verb}`]: async (s) => ({
    path: `/tasks/${await task(s, state)}/actions/${verb}`,
    body: {},
    allowed: ['task_over', 'task_irrevocable', 'task_not_stuck'],
  }),
});
const noHost = ['instance_has_no_host', 'instance_stopped', 'no_host'];

/** What is asked for each route of the OpenAPI document. A key may have a query: that is a row of its own. */
export const requests: Record<string, Make> = {
  'POST /login': async () => ({ path: '/login', body: { name: 'viewer', password: passwordOf('viewer') } }),
  'POST /login/refresh': async (s) => {
    const { refreshToken } = await s.client().ok('POST', '/login', { name: 'viewer', password: passwordOf('viewer') });
    return { path: '/login/refresh', body: { refreshToken } };
  },
  'POST /logout': async () => ({ path: '/logout', endsSession: true }),
  'GET /whoami': async () => ({ path: '/whoami' }),
  'POST /users/me/password': async (_s, who) => ({
    path: '/users/me/password',
    body: { current: passwordOf(who.user ?? 'member'), password: passwordOf(who.user ?? 'member') },
    endsSession: true,
  }),
  'GET /users': async (s) => ({ path: '/users?limit=500', sees: await user(s) }),
  'POST /users': async () => ({ path: '/users', body: { name: name(), password: 'a password for nobody' } }),
  'GET /users/{ref}': async (s) => ({ path: `/users/${await user(s)}` }),
  'PATCH /users/{ref}': async (s) => ({ path: `/users/${await user(s)}`, body: { admin: true } }),
  'DELETE /users/{ref}': async (s) => ({ path: `/users/${await user(s)}` }),
  'GET /users/{ref}/sessions': async (s) => {
    const { id, session } = await userWithSession(s);
    return { path: `/users/${id}/sessions`, sees: session };
  },
  'DELETE /users/{ref}/sessions': async (s) => ({ path: `/users/${(await userWithSession(s)).id}/sessions` }),
  'DELETE /users/{ref}/sessions/{id}': async (s) => {
    const { id, session } = await userWithSession(s);
    return { path: `/users/${id}/sessions/${session}` };
  },
  'GET /users/{ref}/api-tokens': async (s) => {
    const token = await apiToken(s, 'viewer');
    return { path: '/users/viewer/api-tokens?limit=500', sees: token };
  },
  'DELETE /users/{ref}/api-tokens/{token}': async (s) => ({
    path: `/users/viewer/api-tokens/${await apiToken(s, 'viewer')}`,
  }),
  'GET /api-tokens': async () => ({ path: '/api-tokens' }),
  'POST /api-tokens': async () => ({ path: '/api-tokens', body: { name: name() } }),
  'DELETE /api-tokens/{ref}': async (s, who) => ({ path: `/api-tokens/${await apiToken(s, who.user ?? 'member')}` }),
  'GET /projects': async (s) => ({ path: '/projects?limit=500', sees: await red(s) }),
  'GET /projects?project=red': async (s) => ({ path: '/projects?limit=500&project=red', sees: await red(s) }),
  'POST /projects': async () => ({ path: '/projects', body: { name: name() } }),
  'GET /projects/{ref}': async () => ({ path: '/projects/red' }),
  'PATCH /projects/{ref}': async () => ({ path: '/projects/red', body: { description: 'changed' } }),
  'DELETE /projects/{ref}': async (s) => ({ path: `/projects/${await project(s)}` }),
  'GET /projects/{ref}/members': async () => ({ path: '/projects/red/members' }),
  'PUT /projects/{ref}/members/{userId}': async (s) => ({
    path: `/projects/red/members/${await user(s)}`,
    body: { role: 'viewer' },
  }),
  'DELETE /projects/{ref}/members/{userId}': async (s) => {
    const id = await user(s);
    await s.admin.ok('PUT', `/projects/red/members/${id}`, { role: 'viewer' });
    return { path: `/projects/red/members/${id}` };
  },
  ...list('/networks', network),
  'POST /networks': async () => ({ path: '/networks?project=red', body: { name: name(), subnet: '10.0.0.0/24' } }),
  'GET /networks/{ref}': async (s) => ({ path: `/networks/${await network(s)}` }),
  'PATCH /networks/{ref}': async (s) => ({ path: `/networks/${await network(s)}`, body: { description: 'changed' } }),
  'DELETE /networks/{ref}': async (s) => ({ path: `/networks/${await network(s)}` }),
  ...list('/subnets', subnet),
  'POST /subnets': async (s) => ({
    path: '/subnets?project=red',
    body: { network: await network(s), name: name(), cidr: '10.1.0.0/24' },
  }),
  'GET /subnets/{ref}': async (s) => ({ path: `/subnets/${await subnet(s)}` }),
  'PATCH /subnets/{ref}': async (s) => ({ path: `/subnets/${await subnet(s)}`, body: { dns: ['9.9.9.9'] } }),
  'DELETE /subnets/{ref}': async (s) => ({ path: `/subnets/${await subnet(s)}` }),
  ...list('/routers', router),
  'POST /routers': async () => ({ path: '/routers?project=red', body: { name: name() } }),
  'GET /routers/{ref}': async (s) => ({ path: `/routers/${await router(s)}` }),
  'PATCH /routers/{ref}': async (s) => ({ path: `/routers/${await router(s)}`, body: { description: 'changed' } }),
  'DELETE /routers/{ref}': async (s) => ({ path: `/routers/${await router(s)}` }),
  'PUT /routers/{ref}/subnets/{subnet}': async (s) => ({
    path: `/routers/${await router(s)}/subnets/${await subnet(s)}`,
  }),
  'DELETE /routers/{ref}/subnets/{subnet}': async (s) => {
    const path = `/routers/${await router(s)}/subnets/${await subnet(s)}`;
    await s.admin.unchecked('PUT', path);
    return { path };
  },
  ...list('/ports', port),
  'PATCH /ports/{id}': async (s) => ({ path: `/ports/${await port(s)}`, body: { securityGroups: [] } }),
  ...list('/security-groups', securityGroup),
  'POST /security-groups': async (s) => {
    await securityGroup(s);
    return { path: '/security-groups?project=red', body: { name: name() } };
  },
  'GET /security-groups/{ref}': ofGroup(''),
  'PATCH /security-groups/{ref}': ofGroup('', { description: 'changed' }),
  'DELETE /security-groups/{ref}': ofGroup(''),
  'GET /security-groups/{ref}/rules': ofGroup('/rules'),
  'POST /security-groups/{ref}/rules': ofGroup('/rules', { direction: 'ingress' }),
  'DELETE /security-group-rules/{id}': async (s) => {
    const path = `/security-groups/${await securityGroup(s)}/rules` as const;
    const { id } = await s.admin.ok('POST', path, { direction: 'ingress' });
    return { path: `/security-group-rules/${id}` };
  },
  ...list('/images', image),
  'POST /images': async () => ({ path: '/images?project=red', body: { name: name() } }),
  'GET /images/{ref}': async (s) => ({ path: `/images/${await image(s)}` }),
  'PATCH /images/{ref}': async (s) => ({ path: `/images/${await image(s)}`, body: { description: 'changed' } }),
  'PUT /images/{ref}/content': async (s) => ({ path: `/images/${await image(s)}/content`, body: disk() }),
  'PUT /images/{ref}/kernel': async (s) => ({ path: `/images/${await kernelImage(s)}/kernel`, body: bzImage() }),
  'PUT /images/{ref}/initramfs': async (s) => ({
    path: `/images/${await kernelImage(s)}/initramfs`,
    body: initramfs(),
  }),
  'DELETE /images/{ref}': async (s) => ({ path: `/images/${await image(s)}` }),
  ...list('/volumes', volume),
  'POST /volumes': async () => ({
    path: '/volumes?project=red',
    body: { name: name(), bytes: 2 ** 20 },
    allowed: noHost,
  }),
  'GET /volumes/{ref}': async (s) => ({ path: `/volumes/${await dataVolume(s)}` }),
  'PATCH /volumes/{ref}': async (s) => ({ path: `/volumes/${await dataVolume(s)}`, body: { name: name() } }),
  'DELETE /volumes/{ref}': async (s) => ({ path: `/volumes/${await dataVolume(s)}` }),
  'GET /flavors': async (s) => ({ path: '/flavors?limit=500', sees: await flavor(s) }),
  'POST /flavors': async () => ({ path: '/flavors', body: { name: name(), vcpus: 1, memoryBytes: 2 ** 28 } }),
  'GET /flavors/{ref}': async (s) => ({ path: `/flavors/${await flavor(s)}` }),
  'PATCH /flavors/{ref}': async (s) => ({ path: `/flavors/${await flavor(s)}`, body: { description: 'changed' } }),
  'DELETE /flavors/{ref}': async (s) => ({ path: `/flavors/${await flavor(s)}` }),
  ...list('/ssh-keys', sshKey),
  'POST /ssh-keys': async () => ({ path: '/ssh-keys?project=red', body: { name: name(), publicKey } }),
  'PATCH /ssh-keys/{ref}': async (s) => ({ path: `/ssh-keys/${await sshKey(s)}`, body: { name: name() } }),
  'DELETE /ssh-keys/{ref}': async (s) => ({ path: `/ssh-keys/${await sshKey(s)}` }),
  ...list('/instances', instance),
  'POST /instances': async (s) => ({ path: '/instances?project=red', body: await instanceBody(s), allowed: noHost }),
  'POST /instances/check': async (s) => ({
    path: '/instances/check?project=red',
    body: await instanceBody(s),
    allowed: noHost,
  }),
  'POST /instances/batch': async (s) => ({
    path: '/instances/batch?project=red',
    body: { ...(await instanceBody(s)), count: 2 },
    allowed: noHost,
  }),
  'GET /instances/{ref}': async (s) => ({ path: `/instances/${await instance(s)}` }),
  'GET /instances/{ref}/guest-data': async (s) => ({
    path: `/instances/${await instance(s)}/guest-data`,
    allowed: noHost,
  }),
  'PATCH /instances/{ref}': async (s) => ({
    path: `/instances/${await instance(s)}`,
    body: { description: 'changed' },
  }),
  'GET /instances/{ref}/console-log': async (s) => ({
    path: `/instances/${await instance(s)}/console-log`,
    allowed: noHost,
  }),
  'GET /instances/{ref}/screenshot': async (s) => ({
    path: `/instances/${await instance(s)}/screenshot`,
    allowed: noHost,
  }),
  'GET /instances/{ref}/core-dumps': async (s) => ({
    path: `/instances/${await instance(s)}/core-dumps`,
    allowed: noHost,
  }),
  'GET /instances/{ref}/core-dumps/{dump}/content': async (s) => ({
    path: `/instances/${await instance(s)}/core-dumps/${randomUUID()}/content`,
    allowed: noHost,
  }),
  'DELETE /instances/{ref}/core-dumps/{dump}': async (s) => ({
    path: `/instances/${await instance(s)}/core-dumps/${randomUUID()}`,
    allowed: noHost,
  }),
  'DELETE /instances/{ref}': async (s) => ({ path: `/instances/${await instance(s)}` }),
  'POST /instances/{ref}/ports': async (s) => ({
    path: `/instances/${await instance(s)}/ports`,
    body: { network: await network(s) },
    allowed: noHost,
  }),
  'DELETE /instances/{ref}/ports/{port}': async (s) => ({
    path: `/instances/${await instance(s)}/ports/${randomUUID()}`,
    allowed: noHost,
  }),
  'POST /instances/{ref}/volumes': async (s) => ({
    path: `/instances/${await instance(s)}/volumes`,
    body: { volume: await dataVolume(s) },
    allowed: noHost,
  }),
  'DELETE /instances/{ref}/volumes/{volume}': async (s) => ({
    path: `/instances/${await instance(s)}/volumes/${await dataVolume(s)}`,
    allowed: noHost,
  }),
  ...Object.fromEntries(
    ['start', 'stop', 'reboot', 'pause', 'suspend', 'resume', 'nmi', 'core-dump', 'console'].map(
      (verb): [string, Make] => [
        `POST /instances/{ref}/actions/${verb}`,
        async (s) => ({ path: `/instances/${await instance(s)}/actions/${verb}`, allowed: noHost }),
      ],
    ),
  ),
  'POST /instances/{ref}/actions/resize': async (s) => ({
    path: `/instances/${await instance(s)}/actions/resize`,
    body: { flavor: await flavor(s) },
    allowed: noHost,
  }),
  'POST /instances/{ref}/actions/vsock': async (s) => ({
    path: `/instances/${await instance(s)}/actions/vsock`,
    body: { port: 22 },
    allowed: ['no_vsock'],
  }),
  'GET /shares': async () => ({ path: '/shares?project=red' }),
  'GET /instances/{ref}/memory': async (s) => ({
    path: `/instances/${await instance(s)}/memory`,
    allowed: ['no_balloon'],
  }),
  'POST /instances/{ref}/actions/balloon': async (s) => ({
    path: `/instances/${await instance(s)}/actions/balloon`,
    body: { memoryBytes: null },
    allowed: ['no_balloon'],
  }),
  'POST /instances/{ref}/actions/rebuild': async (s) => ({
    path: `/instances/${await instance(s)}/actions/rebuild`,
    body: { image: await image(s) },
    allowed: ['image_not_ready'],
  }),
  'POST /instances/{ref}/actions/rescue': async (s) => ({
    path: `/instances/${await instance(s)}/actions/rescue`,
    body: { image: await image(s) },
    allowed: ['image_not_ready'],
  }),
  'POST /instances/{ref}/actions/unrescue': async (s) => ({
    path: `/instances/${await instance(s)}/actions/unrescue`,
    allowed: ['instance_not_rescued'],
  }),
  'POST /instances/{ref}/actions/lock': async (s) => ({ path: `/instances/${await instance(s)}/actions/lock` }),
  'POST /instances/{ref}/actions/unlock': async (s) => ({
    path: `/instances/${await instance(s)}/actions/unlock`,
    allowed: ['instance_not_locked'],
  }),
  ...list('/tasks', task),
  'GET /tasks/{id}': async (s) => ({ path: `/tasks/${await task(s)}` }),
  ...taskVerb('cancel', 'succeeded'),
  ...taskVerb('retry', 'succeeded'),
  ...taskVerb('skip-step', 'succeeded'),
  ...taskVerb('abandon', 'succeeded'),
  'POST /host-tokens': async () => ({ path: '/host-tokens', body: {} }),
  'GET /host-tokens': async (s) => ({ path: '/host-tokens?limit=500', sees: await hostToken(s) }),
  'DELETE /host-tokens/{id}': async (s) => ({ path: `/host-tokens/${await hostToken(s)}` }),
  'GET /hosts': async (s) => ({ path: '/hosts?limit=500', sees: await host(s) }),
  'GET /hosts/{ref}': async (s) => ({ path: `/hosts/${await host(s)}` }),
  'PATCH /hosts/{ref}': async (s) => ({ path: `/hosts/${await host(s)}`, body: { maintenance: true } }),
  'POST /hosts/{ref}/actions/test': async (s) => ({ path: `/hosts/${await host(s)}/actions/test` }),
  'GET /hosts/{ref}/leftovers': async (s) => ({
    path: `/hosts/${await host(s)}/leftovers`,
    allowed: ['host_unreachable'],
  }),
  'POST /hosts/{ref}/actions/remove-leftovers': async (s) => ({
    path: `/hosts/${await host(s)}/actions/remove-leftovers`,
    body: { leftovers: [{ kind: 'volume', name: 'default/x', mark: 'x' }] },
  }),
  'DELETE /hosts/{ref}': async (s) => ({ path: `/hosts/${await host(s)}` }),
  'GET /events/position': async () => ({ path: '/events/position' }),
  'GET /events': async () => ({ path: '/events' }),
};
