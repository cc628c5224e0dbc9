import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FakeControlPlane } from './fake-control-plane';
import { instance as sample } from './samples';
import { fingerprint, vcctlSuite } from './vcctl-suite';

jest.setTimeout(60_000);

describe('vcctl against a server', () => {
  const suite = vcctlSuite();
  const { vcctl, login, loggedIn } = suite;
  let dir: string;
  let config: string;
  let plane: FakeControlPlane;
  beforeEach(() => {
    ({ dir, config, plane } = suite.started());
  });

  it('logs in with the CA from a file, and keeps the session in a private profile', async () => {
    const { code, err } = await login('--ca-file', join(dir, 'ca.pem'));
    expect(err).toContain('Logged in to');
    expect(code).toBe(0);
    expect((await stat(config)).mode & 0o777).toBe(0o600);
    const text = await readFile(config, 'utf8');
    expect(text).toContain('project: default');
    expect(text).not.toContain('right password');
    expect(JSON.parse((await vcctl(['whoami', '-o', 'json'])).out)).toMatchObject({
      name: 'admin',
      project: 'default',
    });
    expect((await vcctl(['profile', 'remove', 'local', '--yes'])).code).toBe(0);
    expect((await vcctl(['profile', 'remove', 'local', '--yes'])).code).toBe(4);
    expect(await readFile(config, 'utf8')).not.toContain('access-0');
    expect((await vcctl(['whoami'])).code).toBe(3);
  });

  it('trusts a fingerprint of the authority or of the server itself, and no other', async () => {
    expect((await login('--fingerprint', fingerprint(plane.pki.ca))).code).toBe(0);
    expect(await readFile(config, 'utf8')).not.toContain('pinned');
    expect((await vcctl(['whoami'])).code).toBe(0);
    expect((await login('--fingerprint', fingerprint(plane.pki.leaf))).code).toBe(0);
    expect(await readFile(config, 'utf8')).toContain('pinned: true');
    expect((await vcctl(['whoami'])).code).toBe(0);
    plane.requests.length = 0;
    const wrong = await login('--fingerprint', 'ab'.repeat(32));
    expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining('wrong_fingerprint') });
    expect(plane.requests).toEqual([]);
  });

  it('sends no password to a server that nobody vouched for', async () => {
    const { code, err } = await login();
    expect(code).toBe(2);
    expect(err).toContain('--fingerprint');
    expect(plane.requests).toEqual([]);
  });

  it('refuses a server that shows another certificate than at login', async () => {
    await login('--fingerprint', fingerprint(plane.pki.leaf));
    const other = await FakeControlPlane.start();
    await writeFile(config, (await readFile(config, 'utf8')).replace(plane.url, other.url));
    const { code, err } = await vcctl(['whoami']);
    expect(code).toBe(1);
    expect(err).toMatch(/another certificate/);
    expect(other.requests).toEqual([]);
    await other.stop();
  });

  it('tells a wrong password and a logged-out profile apart from other failures', async () => {
    const wrong = await vcctl(
      ['login', plane.url, '--user', 'admin', '--password-stdin', '--ca-file', join(dir, 'ca.pem')],
      'wrong\n',
    );
    expect(wrong).toMatchObject({
      code: 3,
      err: 'error: The name or the password is wrong. (invalid_credentials)\n  request id: r-1\n',
    });
    await login('--ca-file', join(dir, 'ca.pem'));
    expect((await vcctl(['logout'])).code).toBe(0);
    expect(await vcctl(['instance', 'list'])).toMatchObject({ code: 3, err: expect.stringContaining('not_logged_in') });
  });

  it('renews an expired access token once, however many commands run at once', async () => {
    await loggedIn();
    plane.routes.set('GET /flavors', () => ({ body: { items: [], next: null } }));
    plane.accessToken = 'changed by the server';
    const results = await Promise.all(Array.from({ length: 4 }, () => vcctl(['flavor', 'list', '-o', 'json'])));
    expect(results.map((r) => [r.code, r.out])).toEqual(Array.from({ length: 4 }, () => [0, '[]\n']));
    expect(plane.refreshes).toBe(1);
    plane.accessToken = 'x';
    plane.refreshToken = 'x';
    expect(await vcctl(['flavor', 'list'])).toMatchObject({
      code: 3,
      err: expect.stringContaining('refresh_token_reused'),
    });
    expect(await readFile(config, 'utf8')).not.toContain('refreshToken');
  });

  it('works with an API token', async () => {
    const made = await vcctl(['login', plane.url, '--token-stdin', '--ca-file', join(dir, 'ca.pem')], 'vcs_token\n');
    expect(made.code).toBe(0);
    expect((await vcctl(['whoami', '-o', 'name'])).out).toBe('admin\n');
  });

  it('walks every page of a list, in the project of the profile or of the option', async () => {
    await loggedIn();
    const item = (name: string) => ({
      id: name,
      name,
      subnets: [
        { id: name, name, cidr: '10.0.0.0/24', gateway: '10.0.0.1', dns: [], addresses: { total: 253, used: 1 } },
      ],
      router: null,
      mtu: 1500,
      addresses: { total: 253, used: 1 },
      createdAt: '2026-01-01T00:00:00Z',
    });
    plane.routes.set('GET /networks', ({ query }) =>
      query['cursor'] === 'c1'
        ? { body: { items: [item('n2')], next: null } }
        : { body: { items: [item('n1')], next: 'c1' } },
    );
    expect((await vcctl(['network', 'list', '-o', 'name'])).out).toBe('n1\nn2\n');
    expect((await vcctl(['network', 'list', '--project', 'web'])).out).toMatch(/^NAME +SUBNETS.*\nn1 +10\.0\.0\.0\/24/);
    const projects = plane.requests.filter((r) => r.path === '/networks').map((r) => r.query['project']);
    expect(projects).toEqual(['default', 'default', 'web', 'web']);
  });

  it('creates an instance, follows its task and shows the result', async () => {
    await loggedIn();
    await writeFile(join(dir, 'me.pub'), 'ssh-ed25519 AAAA me\n');
    await writeFile(join(dir, 'data'), '#!/bin/sh\n');
    const instance = { ...sample, id: '0b7e9c5e-0000-4000-8000-000000000001', name: 'web', state: 'building' };
    plane.routes.set('POST /instances', () => ({ status: 202, body: { instance, taskId: 't1' } }));
    plane.routes.set(`GET /instances/${instance.id}`, () => ({ body: { ...instance, state: 'running' } }));
    let polls = 0;
    const step = {
      name: 'start-vmm',
      title: 'Start the VMM',
      phase: 'run',
      attempt: 1,
      host: { name: 'h1' },
      progress: null,
      startedAt: '2026-01-01T00:00:00Z',
      endedAt: '2026-01-01T00:00:01Z',
      error: null,
    };
    plane.routes.set('GET /tasks/t1', () => {
      polls += 1;
      return {
        body: {
          id: 't1',
          type: 'x',
          state: polls < 3 ? 'running' : 'succeeded',
          step: null,
          error: null,
          requestId: null,
          steps: [{ ...step, state: polls < 2 ? 'running' : 'succeeded' }],
        },
      };
    });
    const args = [
      'instance',
      'create',
      'web',
      '--flavor',
      'tiny',
      '--image',
      'linux',
      '--network',
      'n1,address=10.0.0.5',
      '--network',
      'n2',
      '--key',
      join(dir, 'me.pub'),
      '--key',
      'laptop',
      '--user-data',
      join(dir, 'data'),
      '--wait',
      '-o',
      'json',
    ];
    const { code, out, err } = await vcctl(args);
    expect(err).toBe('');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({ ...instance, state: 'running' });
    const sent = plane.requests.find((r) => r.method === 'POST' && r.path === '/instances');
    expect(sent?.query).toEqual({ project: 'default' });
    expect(JSON.parse(sent?.body ?? '')).toEqual({
      name: 'web',
      flavor: 'tiny',
      image: 'linux',
      networks: [{ network: 'n1', address: '10.0.0.5' }, { network: 'n2' }],
      sshKeys: ['ssh-ed25519 AAAA me', 'laptop'],
      userData: Buffer.from('#!/bin/sh\n').toString('base64'),
    });
    polls = 0;
    const shown = await vcctl(args.slice(0, -2));
    expect(shown.code).toBe(0);
    expect(shown.out).toMatch(/✓ Start the VMM +1\.0s {2}on h1\nName +web\n/);
  });

  it('creates several instances with one task and shows them all', async () => {
    await loggedIn();
    const made = [1, 2].map((n) => ({
      id: `0b7e9c5e-0000-4000-8000-00000000000${n}`,
      name: `web-${n}`,
      state: 'building',
      ports: [],
      flavor: { name: 'tiny' },
      image: { name: 'linux' },
      host: null,
      createdAt: '2026-01-01T00:00:00Z',
    }));
    plane.routes.set('POST /instances/batch', () => ({ status: 202, body: { instances: made, taskId: 't2' } }));
    const args = [
      'instance',
      'create',
      'web',
      '--count',
      '2',
      '--flavor',
      'tiny',
      '--image',
      'linux',
      '--network',
      'n1',
    ];
    const { code, out, err } = await vcctl(args);
    expect(code).toBe(0);
    expect(out).toMatch(/web-1 +building[^]*web-2 +building/);
    expect(err).toContain('vcctl task watch t2');
    const sent = plane.requests.find((r) => r.path === '/instances/batch');
    expect(sent?.query).toEqual({ project: 'default' });
    expect(JSON.parse(sent?.body ?? '')).toEqual({
      name: 'web',
      count: 2,
      flavor: 'tiny',
      image: 'linux',
      networks: [{ network: 'n1' }],
      sshKeys: [],
    });
    plane.routes.set('GET /tasks/t2', () => ({
      body: { id: 't2', type: 'x', state: 'succeeded', step: null, error: null, requestId: null, steps: [] },
    }));
    plane.routes.set('GET /instances', () => ({ body: { items: [{ ...made[1], state: 'running' }], next: null } }));
    const waited = await vcctl([...args, '--wait']);
    expect(waited.code).toBe(0);
    expect(waited.out).toMatch(/web-2 +running/);
    expect(waited.out).not.toContain('web-1');
    expect(
      (await vcctl(['instance', 'create', 'web', '--count', '0', '--flavor', 't', '--image', 'i', '--network', 'n']))
        .err,
    ).toContain('--count');
  });

  it('prints why no host fits, and goes on after a failure among several', async () => {
    await loggedIn();
    plane.routes.set('POST /instances', () => ({
      status: 409,
      body: {
        code: 'no_host',
        detail: 'No host fits.',
        hosts: [{ host: 'h1', fits: false, code: 'memory', reason: 'needs 4 GiB' }],
      },
    }));
    const create = await vcctl(['instance', 'create', 'web', '--flavor', 't', '--image', 'i', '--network', 'n']);
    expect(create).toMatchObject({
      code: 5,
      err: 'error: No host fits. (no_host)\n  host h1: needs 4 GiB (memory)\n  request id: r-1\n',
    });
    plane.routes.set('POST /instances/b/actions/stop', () => ({ status: 202, body: { instance: {}, taskId: 't' } }));
    const stop = await vcctl(['instance', 'stop', 'a', 'b', '--force']);
    expect(stop.code).toBe(4);
    expect(stop.err).toContain('error: a: There is no');
    expect(stop.err).toContain('instance b: stop accepted');
    expect(JSON.parse(plane.requests.at(-1)?.body ?? '')).toEqual({ force: true });
  });

  it('uploads an image byte for byte, and removes the record when the upload is refused', async () => {
    await loggedIn();
    const content = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * 7) % 256));
    await writeFile(join(dir, 'disk'), content);
    const image = {
      id: '0b7e9c5e-0000-4000-8000-000000000002',
      name: 'linux',
      state: 'queued',
      taskId: null,
      message: '',
    };
    plane.routes.set('POST /images', () => ({ status: 201, body: image }));
    plane.routes.set(`PUT /images/${image.id}/content`, () => ({ body: image }));
    plane.routes.set(`GET /images/${image.id}`, () => ({ body: { ...image, state: 'ready' } }));
    const good = await vcctl(['image', 'import', '--file', join(dir, 'disk'), '--name', 'linux', '-o', 'json']);
    expect(JSON.parse(good.out)).toMatchObject({ state: 'ready' });
    expect(Buffer.from(plane.requests.find((r) => r.method === 'PUT')?.body ?? '', 'latin1').equals(content)).toBe(
      true,
    );
    plane.routes.set(`PUT /images/${image.id}/content`, () => ({
      status: 422,
      body: { code: 'backing_file', detail: 'It has a backing file.' },
    }));
    plane.routes.set(`DELETE /images/${image.id}`, () => ({ status: 204 }));
    expect(await vcctl(['image', 'import', '--file', join(dir, 'disk'), '--name', 'linux'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('backing_file'),
    });
    expect(plane.requests.at(-1)).toMatchObject({ method: 'DELETE', path: `/images/${image.id}` });
    expect((await vcctl(['image', 'import', '--name', 'x'])).code).toBe(2);
  });
});
