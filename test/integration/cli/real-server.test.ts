import { randomUUID } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspectServer } from '../../../src/core/cli/session/server-trust';
import { bzImage, initramfs } from '../image/boot-files';
import { ManagementStack, passwordOf } from '../../security/management-stack';
import { runHere, type Result } from './vcctl-lab';

jest.setTimeout(120_000);

const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIQ6YGHAn48JdGZEOQJX2kCmpXGYoN7JmVuJqxZcRVdC me@laptop';

describe('vcctl and the server itself', () => {
  let stack: ManagementStack;
  let env: NodeJS.ProcessEnv;
  const vcctl = (...args: string[]): Promise<Result> => runHere(env, args);
  const ok = async (...args: string[]): Promise<string> => {
    const { code, out, err } = await vcctl(...args);
    expect([args.join(' '), code, code === 0 ? '' : err]).toEqual([args.join(' '), 0, '']);
    return out;
  };

  beforeAll(async () => {
    stack = await ManagementStack.start();
    env = { PATH: process.env['PATH'], VCCTL_CONFIG: join(stack.directory, 'vcctl.yaml'), HOME: stack.directory };
    const ca = (await inspectServer(stack.url)).chain.at(-1)?.pem;
    writeFileSync(
      env['VCCTL_CONFIG'] ?? '',
      JSON.stringify({
        current: 'local',
        profiles: [{ name: 'local', url: stack.url, ca, project: 'default', apiToken: stack.admin.token }],
      }),
    );
    writeFileSync(join(stack.directory, 'me.pub'), `${key}\n`);
  });
  afterAll(() => stack?.close());

  it('shows, renames and deletes what is called like a part of a path', async () => {
    for (const name of ['..', '.', 'a/b', '%2f', '%2e%2e', '?x=1#y', 'a\\b', '-', 'Ünï cödé', "it's"]) {
      await ok('flavor', 'create', '--vcpus', '1', '--memory', '256MiB', '--', name);
      const shown = JSON.parse(await ok('flavor', 'show', '-o', 'json', '--', name)) as { name: string; id: string };
      expect(shown.name).toBe(name);
      await ok('flavor', 'edit', '--description', 'odd', '--', name);
      expect(await ok('flavor', 'show', shown.id, '-o', 'jsonpath=$.description')).toBe('odd\n');
      await ok('network', 'create', '--subnet', '10.0.0.0/24', '--', name);
      await ok('network', 'delete', '--yes', '--', name);
      await ok('flavor', 'delete', '--yes', '--', name);
    }
    expect(await ok('flavor', 'list', '-o', 'name')).toBe('');
  });

  it('takes the beginning of an id for every noun', async () => {
    await ok('ssh-key', 'create', 'laptop', join(stack.directory, 'me.pub'));
    await ok('project', 'create', 'web');
    await stack.user('anna');
    await ok('flavor', 'create', 'tiny', '--vcpus', '1', '--memory', '256MiB');
    await ok('network', 'create', 'n1', '--subnet', '10.0.0.0/24');
    await stack.admin.ok('POST', '/images?project=default', { name: 'linux' });
    await stack.admin.ok('POST', '/api-tokens', { name: 'ci' });
    for (const [noun, name] of [
      ['ssh-key', 'laptop'],
      ['project', 'web'],
      ['user', 'anna'],
      ['flavor', 'tiny'],
      ['network', 'n1'],
      ['image', 'linux'],
      ['api-token', 'ci'],
    ] as const) {
      const id = (await ok(noun, 'list', '--filter', `name=${name}`, '-o', 'jsonpath=$[0].id')).trim();
      // Ids begin with the time: those made in one second differ only further behind.
      expect(await ok(noun, 'show', id.slice(0, 28), '-o', 'name')).toBe(`${name}\n`);
    }
    const web = (await ok('project', 'show', 'web', '-o', 'jsonpath=$.id')).trim();
    await ok('--project', web.slice(0, 28), 'network', 'create', 'n2', '--subnet', '10.0.0.0/24');
    expect(await ok('--project', 'web', 'network', 'list', '-o', 'name')).toBe('n2\n');
    expect((await vcctl('--project', 'beef0000-dead-4000', 'network', 'list')).code).toBe(4);
    expect((await vcctl('flavor', 'show', 'dead')).err).toMatch(/^error: There is no flavor "dead"\. \(not_found\)/);
    expect((await vcctl('flavor', 'show', 'beef0000-dead-4000')).code).toBe(4);
  });

  it('imports an image with its kernel, and says what the kernel is told', async () => {
    const file = (name: string, bytes: Buffer): string => {
      writeFileSync(join(stack.directory, name), bytes);
      return join(stack.directory, name);
    };
    const disk = ['image', 'import', '--file', file('disk', Buffer.alloc(8192, 7)), '--name', 'direct'];
    const own = ['--kernel', file('vmlinuz', bzImage()), '--initramfs', file('initrd', initramfs())];
    expect(await vcctl(...disk, '--command-line', 'quiet')).toMatchObject({
      code: 2,
      err: expect.stringContaining('go with --kernel'),
    });
    expect(await vcctl(...disk, '--kernel', file('text', Buffer.from('no kernel')))).toMatchObject({
      code: 1,
      err: expect.stringContaining('(not_a_kernel)'),
    });
    const shown = await ok(...disk, ...own, '--command-line', 'root=/dev/vda1 quiet');
    expect(shown).toMatch(/Kernel\s+64 KiB\n\s*Initramfs\s+\d+ B\n\s*Command line\s+root=\/dev\/vda1 quiet\n/);
    await ok('image', 'edit', 'direct', '--command-line', 'ro');
    expect(await ok('image', 'show', 'direct', '-o', 'jsonpath=$.kernel.commandLine')).toBe('ro\n');
    await ok('image', 'delete', 'direct', '--yes');
  });

  it('renames and describes, refuses a taken name, and the guest keeps its hostname', async () => {
    await ok('flavor', 'create', 'taken', '--vcpus', '1', '--memory', '256MiB');
    await ok('flavor', 'rename', 'tiny', 'small');
    expect(await vcctl('flavor', 'rename', 'small', 'taken')).toMatchObject({
      code: 5,
      err: expect.stringMatching(/^error: There is a flavor named "taken" already\. \(name_taken\)\n/),
    });
    await ok('ssh-key', 'rename', 'laptop', 'desk');
    expect(await ok('ssh-key', 'list', '-o', 'name')).toBe('desk\n');
    await ok('image', 'rename', 'linux', 'debian');
    await ok('image', 'edit', 'debian', '--description', 'twelve');
    expect(await ok('image', 'show', 'debian', '-o', 'jsonpath=$.description')).toBe('twelve\n');
    for (const [kind, vmm] of [
      ['qemu', 'qemu'],
      ['', null],
    ]) {
      await ok('image', 'edit', 'debian', '--vmm', kind ?? '');
      expect(JSON.parse(await ok('image', 'show', 'debian', '-o', 'json'))).toMatchObject({ vmm });
    }
    const vendorData = '#cloud-config\ntimezone: Europe/Zürich';
    writeFileSync(join(stack.directory, 'vendor.yaml'), vendorData);
    writeFileSync(join(stack.directory, 'binary'), Buffer.from([0x1f, 0x8b, 0xff]));
    for (const [noun, name] of [
      ['image', 'debian'],
      ['flavor', 'small'],
    ] as const) {
      await ok(noun, 'edit', name, '--vendor-data', join(stack.directory, 'vendor.yaml'));
      expect(JSON.parse(await ok(noun, 'show', name, '-o', 'json'))).toMatchObject({ vendorData });
      expect(await ok(noun, 'show', name)).toMatch(/Vendor data\s+#cloud-config/);
      expect(await vcctl(noun, 'edit', name, '--vendor-data', join(stack.directory, 'binary'))).toMatchObject({
        code: 2,
        err: expect.stringContaining('is no text in UTF-8'),
      });
      await ok(noun, 'edit', name, '--vendor-data', '');
      expect(JSON.parse(await ok(noun, 'show', name, '-o', 'json'))).toMatchObject({ vendorData: null });
    }
    const project = (await ok('project', 'show', 'default', '-o', 'jsonpath=$.id')).trim();
    for (const name of ['web', 'db']) {
      await stack.db.database.query(
        `INSERT INTO instance (id, project_id, name, hostname, description, flavor_id, flavor_name, vcpus, memory_bytes, disk_bytes, image_id, image_name, architecture, nics, ssh_keys, user_data, stop_grace_seconds, state, power, created_by)
         VALUES ($1, $2, $3, $3, '', gen_random_uuid(), 'tiny', 1, 268435456, 0, gen_random_uuid(), 'linux', 'x86_64', '[]', '[]', '', 30, 'error', 'on', 'admin')`,
        [randomUUID(), project, name],
      );
    }
    await ok('instance', 'rename', 'web', 'Front Door');
    await ok('instance', 'edit', 'Front Door', '--description', 'for all', '--stop-grace', '90');
    await ok('instance', 'edit', 'Front Door', '--tag', 'web', '--tag', 'blue', '--protected', 'yes');
    expect(JSON.parse(await ok('instance', 'list', '--tag', 'web', '-o', 'json'))).toMatchObject([
      { name: 'Front Door', tags: ['blue', 'web'], protected: true },
    ]);
    await ok('instance', 'lock', 'Front Door', '--reason', 'audit');
    expect(await vcctl('instance', 'edit', 'Front Door', '--tag', '')).toMatchObject({
      code: 5,
      err: expect.stringContaining('It is locked (audit): unlock it first.'),
    });
    await ok('instance', 'unlock', 'Front Door');
    expect(await vcctl('instance', 'delete', 'Front Door', '--yes')).toMatchObject({
      code: 5,
      err: expect.stringContaining('instance_protected'),
    });
    await ok('instance', 'edit', 'Front Door', '--tag', '', '--protected', 'no');
    expect(JSON.parse(await ok('instance', 'show', 'Front Door', '-o', 'json'))).toMatchObject({
      name: 'Front Door',
      hostname: 'web',
      description: 'for all',
      stopGraceSeconds: 90,
    });
    expect((await vcctl('instance', 'rename', 'db', 'Front Door')).code).toBe(5);
    expect(await vcctl('instance', 'edit', 'db', '--stop-grace', '601')).toMatchObject({
      code: 2,
      err: 'error: --stop-grace: "601" is not a whole number from 0 to 600 (usage)\n',
    });
    expect(await vcctl('instance', 'logs', 'db')).toMatchObject({
      code: 5,
      err: expect.stringMatching(/^error: It has no host yet, so there is no console\. \(instance_has_no_host\)/),
    });
    expect(await vcctl('instance', 'screenshot', 'db', '--file', join(stack.directory, 'db.png'))).toMatchObject({
      code: 5,
      err: expect.stringMatching(/^error: It has no host yet, so there is no screen\. \(instance_has_no_host\)/),
    });
    expect(existsSync(join(stack.directory, 'db.png'))).toBe(false);
    expect(await vcctl('instance', 'ssh', 'db')).toMatchObject({
      code: 1,
      err: 'error: "db" has no address yet. (no_way)\n  See: vcctl instance show\n',
    });
    const seen = await stack.db.database.query<{ type: string }>(
      `SELECT type FROM outbox WHERE type LIKE '%.updated' ORDER BY 1`,
    );
    expect([...new Set(seen.map((row) => row.type))]).toEqual(
      expect.arrayContaining(['flavor.updated', 'image.updated', 'instance.updated', 'ssh-key.updated']),
    );
  });

  it('narrows every list by the same text', async () => {
    expect(await ok('instance', 'list', '--filter', 'front', '-o', 'name')).toBe('Front Door\n');
    for (const noun of [
      'flavor',
      'image',
      'network',
      'port',
      'volume',
      'ssh-key',
      'project',
      'user',
      'api-token',
      'task',
      'host',
      'host token',
    ]) {
      expect(await ok(...noun.split(' '), 'list', '--filter', 'nothing-has-this', '-o', 'json')).toBe('[]\n');
    }
    expect(await ok('project', 'member', 'list', 'default', '--filter', 'nothing-has-this', '-o', 'json')).toBe('[]\n');
    expect(await ok('user', 'session', 'list', 'admin', '--filter', 'nothing-has-this', '-o', 'json')).toBe('[]\n');
  });

  it('ends the sessions and API tokens of a user, and says what it ended', async () => {
    const session = async (): Promise<{ accessToken: string }> =>
      stack.client().ok('POST', '/login', { name: 'anna', password: passwordOf('anna') });
    const [first, second] = [await session(), await session()];
    const anna = stack.client(second.accessToken);
    const token = await anna.ok('POST', '/api-tokens', { name: 'build' });
    const status = async (credential: string): Promise<number> =>
      (await stack.client(credential).call('GET', '/whoami')).status;
    const ids = (await ok('user', 'session', 'list', 'anna', '-o', 'jsonpath=$[*].id')).trim().split('\n');
    const firstId = String(
      (JSON.parse(Buffer.from(first.accessToken.split('.')[1] ?? '', 'base64url').toString()) as { sid: string }).sid,
    );
    expect(ids).toContain(firstId);
    expect((await vcctl('user', 'session', 'delete', 'anna', firstId)).code).toBe(2);
    const told = async (...args: string[]): Promise<string> => (await vcctl(...args)).err;
    expect(await told('user', 'session', 'delete', 'anna', firstId, '--yes')).toBe(`session ${firstId} ended\n`);
    expect([await status(first.accessToken), await status(second.accessToken), await status(token.token)]).toEqual([
      401, 200, 200,
    ]);
    expect(await ok('user', 'api-token', 'list', 'anna', '-o', 'name')).toBe('build\n');
    expect(await told('user', 'api-token', 'delete', 'anna', 'build', '--yes')).toBe('API token build deleted\n');
    expect(await told('user', 'session', 'delete', 'anna', '--all', '--yes')).toBe('all sessions of anna ended\n');
    expect([await status(second.accessToken), await status(token.token)]).toEqual([401, 401]);
    expect((await vcctl('user', 'session', 'delete', 'anna')).err).toContain('name sessions, or say --all');
  });

  it('completes with the names that the server has', async () => {
    expect(await ok('__complete', '--', 'instance', 'show', 'F')).toBe('Front Door\n');
    expect(await ok('__complete', '--', 'instance', 'create', 'x', '--flavor', '')).toBe('taken\nsmall\n');
    expect(await ok('__complete', '--', '--project', 'w')).toBe('web\n');
    expect(await ok('__complete', '--', 'project', 'member', 'set', 'web', 'an')).toBe('anna\n');
    expect(
      await runHere({ ...env, VCCTL_CONFIG: '/nonexistent' }, ['__complete', '--', 'instance', 'show', '']),
    ).toEqual({ code: 0, out: '', err: '' });
  });
});
