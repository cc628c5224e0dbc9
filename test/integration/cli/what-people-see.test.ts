import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { flavor, host, ids, instance, stopped, task } from './samples';
import { VcctlLab, vcctlCommand } from './vcctl-lab';

jest.setTimeout(60_000);

/** Times that grow with every run. */
const ago = (text: string): string => text.replace(/\d+ years? ago/g, 'long ago').replace(/ {3,}MESSAGE/, '   MESSAGE');
const colour = (code: number, text: string): string => `\u001b[${code}m${text}\u001b[39m`;

describe('what people see of vcctl', () => {
  let lab: VcctlLab;
  beforeEach(async () => {
    lab = await VcctlLab.start();
    const { routes } = lab.plane;
    routes.set('GET /instances', ({ query }) => ({
      body: {
        items: [instance, stopped].filter(
          (i) => query['q'] === undefined || i.id.startsWith(query['q']) || i.name.includes(query['q']),
        ),
        next: null,
      },
    }));
    for (const i of [instance, stopped]) routes.set(`GET /instances/${i.id}`, () => ({ body: i }));
    routes.set('GET /instances/web', () => ({ body: instance }));
    routes.set('GET /hosts/h1', () => ({ body: host }));
    routes.set('GET /hosts', () => ({ body: { items: [host], next: null } }));
    routes.set('POST /flavors', () => ({ status: 201, body: flavor }));
    routes.set('GET /flavors/tiny', () => ({ body: flavor }));
    routes.set('GET /whoami', () => ({ body: {} }));
  });
  afterEach(() => lab.stop());

  it('a list: aligned, narrowed, ordered, with the columns asked for', async () => {
    expect(ago((await lab.run('instance', 'list')).out)).toBe(
      [
        'NAME          STATE     ADDRESS     FLAVOR   IMAGE    HOST   CREATED',
        'Web Server!   running   10.10.0.2   tiny     debian   h1     long ago',
        'db            stopped   -           large    debian   h1     long ago',
        '',
      ].join('\n'),
    );
    const narrowed = await lab.run(
      'instances',
      'ls',
      '--filter',
      'state=running',
      '--columns',
      'name,hostname,flavor.vcpus',
      '--no-headers',
    );
    expect(narrowed).toEqual({ code: 0, out: 'Web Server!   web-server   1\n', err: '' });
    expect((await lab.run('instance', 'list', '--sort', '-memory', '-o', 'name')).out).toBe('db\nWeb Server!\n');
    expect((await lab.run('instance', 'list', '-o', 'jsonpath=$[*].ports[0].address')).out).toBe('10.10.0.2\n');
    expect((await lab.run('instance', 'list', '--filter', 'Server')).out).toMatch(/^NAME.*\nWeb Server! .*\n$/);
    expect(lab.plane.requests.at(-1)?.query['q']).toBe('Server');
    expect(await lab.run('instance', 'list', '--sort', 'staet')).toEqual({
      code: 2,
      out: '',
      err: 'error: --sort: there is no column "staet"; did you mean state? There are name, state, address, flavor, image, host, created, vcpus, memory, hostname, vmm, tags, guard, reason, id. (usage)\n',
    });
  });

  it('a terminal: it fits, states are coloured, NO_COLOR is honoured', async () => {
    const { screen } = await lab.terminal(['instance', 'list'], { cols: 60 });
    const lines = ago(screen).split('\n');
    expect(screen).toContain(colour(32, 'running'));
    for (const line of lines) expect(line.replace(/\u001b\[\d+m/g, '').length).toBeLessThanOrEqual(60);
    const plain = await lab.terminal(['instance', 'list', '-o', 'wide'], { cols: 300, env: { NO_COLOR: '1' } });
    expect(plain.screen).not.toContain('\u001b');
    expect(plain.screen).toContain(ids.instance);
  });

  it('an instance, by a prefix of its id', async () => {
    lab.plane.routes.set('GET /whoami', () => ({ body: {} }));
    const { code, out, err } = await lab.run('instance', 'get', ids.instance.slice(0, 13));
    expect([code, err]).toEqual([0, '']);
    expect(ago(out)).toBe(
      [
        'Name        Web Server!',
        'Hostname    web-server',
        'State       running',
        'Flavor      tiny (1 vCPU, 256 MiB, root disk as large as the image)',
        'Image       debian',
        'Host        h1 (qemu)',
        'SSH keys    anna@laptop (ssh-ed25519)',
        'Tags        blue, web',
        'Meta role   front',
        'Protected   yes, deleting it is refused',
        'Stop grace  30 s',
        'Created     2020-01-01T00:00:00Z (long ago)',
        'Started     -',
        `Id          ${ids.instance}`,
        '',
        'Addresses',
        '  NETWORK   ADDRESS     MAC',
        '  n1        10.10.0.2   52:54:00:00:00:01',
        '',
      ].join('\n'),
    );
    expect(await lab.run('instance', 'show', ids.instance.slice(0, 8))).toEqual({
      code: 2,
      out: '',
      err: `error: Several instances have ids that begin with 0198b0f4: ${ids.instance} (Web Server!), ${ids.other} (db). (ambiguous_reference)\n  Give more digits of it.\n`,
    });
  });

  it('a host: sections, units, what overcommit means', async () => {
    expect(ago((await lab.run('host', 'show', 'h1')).out)).toBe(
      `Name             h1
State            degraded
Takes instances  no
Address          192.0.2.10
Last seen        2020-01-01T00:00:00Z (long ago)
Circuit breaker  closed: it is called
Joined           2020-01-01T00:00:00Z (long ago)
Id               ${ids.host}

Capacity
  Instances           1
  vCPUs               1 of 8 given out (2 threads, overcommitted 4 times: guests share them)
  Memory              256 MiB of 8 GiB given out
  Huge pages of 2MiB  0 B of 1 GiB given out
  Pool local          0 B of 100 GiB given out
  Disk                0 B of 100 GiB given out

Conditions
  CONDITION   STATUS   REASON    SINCE   MESSAGE
  Vmm         true     usable    long ago   qemu 10.0 with tcg
  Cgroup      false    missing   long ago   no memory controller

Machine
  Processor  AMD EPYC, 2 threads
  Memory     8 GiB
  Kernel     6.1.0, x86_64
  Agent      0.1.0

Virtual machine monitors
  KIND   VERSION   ACCELERATOR   USABLE   REASON
  qemu   10.0      tcg           yes      software emulation

What they can do
  KIND   CAPABILITIES
  qemu   serial, bios

Models of CPUs
  KIND   MODELS
  qemu   Nehalem, max

Shares
  NAME    READ-ONLY   USABLE   PROJECTS                               REASON
  media   false       yes      ${ids.project}   -

Storage pools
  NAME    DRIVER   SIZE      FREE
  local   local    100 GiB   50 GiB

Disks
  NAME   SIZE      MODEL
  vda    100 GiB   -

Network cards
  NAME   MAC                 MTU    SPEED   LINK
  eth0   52:54:00:00:00:02   1500   -       up
`,
    );
  });

  it('who is logged in', async () => {
    lab.plane.routes.clear();
    expect((await lab.run('whoami')).out).toBe(
      [
        'User          admin (admin)',
        'Logged in by  name and password',
        'Project       default',
        '',
        'Projects',
        '  NAME      YOUR ROLE',
        '  default   project-admin',
        '',
      ].join('\n'),
    );
  });

  it('a new flavor, and mistakes in its sizes', async () => {
    expect(ago((await lab.run('flavor', 'create', 'tiny', '--vcpus', '1', '--memory', '256MiB')).out)).toBe(
      `Name       tiny\nvCPUs      1\nMemory     256 MiB\nRoot disk  as large as the image\nCreated    2020-01-01T00:00:00Z (long ago)\nId         ${ids.flavor}\n`,
    );
    lab.plane.requests.length = 0;
    expect(await lab.run('flavor', 'create', 'tiny', '--vcpus', '1', '--memory', '256')).toEqual({
      code: 2,
      out: '',
      err: 'error: --memory: 256 B is too little, at least 64 MiB; did you mean 256MiB? (usage)\n',
    });
    expect(lab.plane.requests).toEqual([]);
  });

  it.each([
    [
      ['instance', 'list', '--state', 'runing'],
      '--state: "runing" is not one of building, running, paused, suspended, rescued, starting, stopping, rebooting, pausing, suspending, resuming, resizing, rebuilding, rescuing, unrescuing, stopped, deleting, unknown, error; did you mean running?',
    ],
    [
      ['image', 'import', '--name', 'x', '--file', 'y', '--format', 'qcow'],
      '--format: "qcow" is not one of raw, qcow2; did you mean qcow2?',
    ],
    [
      ['project', 'member', 'set', 'web', 'anna', 'memer'],
      '<role>: "memer" is not one of project-admin, member, viewer; did you mean member?',
    ],
    [
      ['instance', 'create', 'web', '--flavor', 'f', '--image', 'i', '--network', 'n', '--key', './none.pub'],
      '--key: there is no file ./none.pub; a key is made by: ssh-keygen -t ed25519',
    ],
    [['api', 'GTE', '/instances'], '<method>: "GTE" is not one of GET, POST, PUT, PATCH, DELETE; did you mean GET?'],
  ])('%j: what is wrong, once, with what there is', async (args, message) => {
    expect(await lab.run(...args)).toEqual({ code: 2, out: '', err: `error: ${message} (usage)\n` });
    expect(lab.plane.requests).toEqual([]);
  });

  it('what the server refuses, in the words of the command line', async () => {
    lab.plane.routes.set('POST /networks', () => ({
      status: 422,
      body: {
        code: 'unacceptable',
        detail: 'body.dns.0: not an address (and 1 more).',
        errors: [
          { path: 'body.dns.0', code: 'invalid_format', message: 'not an address' },
          { path: 'body.name', code: 'too_long', message: 'at most 63 characters' },
        ],
      },
    }));
    expect(await lab.run('network', 'create', 'x', '--subnet', '10.0.0.0/24', '--dns', 'y')).toEqual({
      code: 1,
      out: '',
      err: 'error: --dns: not an address (invalid_format)\n  <name>: at most 63 characters (too_long)\n  request id: r-1\n',
    });
  });

  it('a stop, for people and for programs, with and without waiting', async () => {
    const { routes } = lab.plane;
    routes.set('POST /instances/web/actions/stop', () => ({
      status: 202,
      body: { instance: { ...instance, state: 'stopping' }, taskId: ids.task },
    }));
    routes.set(`GET /tasks/${ids.task}`, () => ({ body: task('succeeded') }));
    routes.set(`GET /instances/${ids.instance}`, () => ({ body: { ...instance, state: 'stopped' } }));
    expect(await lab.run('instance', 'stop', 'web')).toEqual({
      code: 0,
      out: '',
      err: `instance web: stop accepted (task ${ids.task})\n`,
    });
    expect(await lab.run('instance', 'stop', 'web', '-o', 'jsonpath=$.instance.state')).toEqual({
      code: 0,
      out: 'stopping\n',
      err: '',
    });
    expect(await lab.run('instance', 'stop', 'web', '--wait', '-o', 'jsonpath=$.instance.state')).toEqual({
      code: 0,
      out: 'stopped\n',
      err: '',
    });
    expect(await lab.run('instance', 'stop', 'web', 'web', '--wait', '-o', 'name')).toEqual({
      code: 0,
      out: 'Web Server!\nWeb Server!\n',
      err: '',
    });
    routes.set(`GET /tasks/${ids.task}`, () => ({
      body: task('failed', { code: 'no_answer', message: 'The host did not answer.' }),
    }));
    const failed = await lab.run('instance', 'stop', 'web', 'none', '--wait', '-o', 'json');
    expect([failed.code, failed.out]).toEqual([1, '']);
    expect(
      failed.err
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as object),
    ).toEqual([
      {
        type: 'urn:vc-stack:problem:no_answer',
        code: 'no_answer',
        detail: 'The host did not answer.',
        requestId: 'r-task',
        hint: `See: vcctl task show ${ids.task}`,
        reference: 'web',
      },
      expect.objectContaining({ code: 'not_found', reference: 'none', requestId: 'r-1' }),
    ]);
  });

  it('names that are a part of a path', async () => {
    const { plane } = lab;
    plane.routes.set('GET /networks', () => ({ body: { items: [{ id: ids.network, name: '..' }], next: null } }));
    plane.fallback = ({ method }) => (method === 'DELETE' ? { status: 204 } : { body: { ...flavor } });
    for (const [name, path] of [
      ['a/b', '/flavors/a%2Fb'],
      ['%2f', '/flavors/%252f'],
      ['a b?c#d', '/flavors/a%20b%3Fc%23d'],
      ['Ünï', '/flavors/%C3%9Cn%C3%AF'],
    ] as const) {
      expect((await lab.run('flavor', 'show', name)).code).toBe(0);
      expect(plane.requests.at(-1)).toMatchObject({ method: 'GET', path });
      expect((await lab.run('flavor', 'delete', name, '--yes')).code).toBe(0);
      expect(plane.requests.at(-1)).toMatchObject({ method: 'DELETE', path });
    }
    expect((await lab.run('network', 'delete', '..', '--yes')).code).toBe(0);
    expect(plane.requests.at(-1)).toMatchObject({ method: 'DELETE', path: `/networks/${ids.network}` });
    expect((await lab.run('network', 'delete', '.', '--yes')).err).toBe(
      'error: There is no network ".". (not_found)\n',
    );
  });

  it('any call of the API', async () => {
    lab.plane.routes.set('POST /networks', ({ body, query }) => ({
      status: 201,
      body: { got: JSON.parse(body) as object, query },
    }));
    const { code, out } = await lab.run(
      'api',
      'post',
      'networks',
      '--data',
      '{"name":"n2"}',
      '--query',
      'project=web',
      '-o',
      'jsonpath=$',
    );
    expect([code, JSON.parse(out)]).toEqual([0, { got: { name: 'n2' }, query: { project: 'web' } }]);
    await writeFile(join(lab.dir, 'body'), '{"name":"n3"}');
    expect(
      JSON.parse((await lab.run('api', 'POST', '/api/v1/networks', '--data', `@${join(lab.dir, 'body')}`)).out),
    ).toEqual({ got: { name: 'n3' }, query: {} });
    expect((await lab.run('api', 'POST', '/networks', '--data', '{')).err).toMatch(/^error: --data: not JSON: /);
    expect(await lab.run('api', 'GET', '/nothing')).toMatchObject({
      code: 4,
      err: 'error: There is no /nothing. (not_found)\n  request id: r-1\n',
    });
  });

  describe('a full disk', () => {
    it('of standard output is told in words', () => {
      const ran = spawnSync('/bin/sh', ['-c', '"$@" > /dev/full', 'sh', process.execPath, ...vcctlCommand, '--help'], {
        env: lab.env,
        encoding: 'utf8',
      });
      expect([ran.status, ran.stderr]).toEqual([1, 'error: standard output: the disk is full (ENOSPC)\n']);
    });

    it('under the profile file is told in words, and leaves the file as it was', () => {
      const folder = join(lab.dir, 'small');
      mkdirSync(folder);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4k', 'tmpfs', folder]);
      try {
        const file = join(folder, 'config.yaml');
        execFileSync('cp', [lab.env['VCCTL_CONFIG'] ?? '', file]);
        const ran = spawnSync(process.execPath, [...vcctlCommand, 'profile', 'use', 'local', '--project', 'web'], {
          env: { ...lab.env, VCCTL_CONFIG: file },
          encoding: 'utf8',
        });
        expect(ran.status).toBe(1);
        expect(ran.stderr).toMatch(/^error: .*config\.yaml(\.lock)?: the disk is full \(ENOSPC\)\n$/);
        expect(execFileSync('ls', ['-A', folder], { encoding: 'utf8' })).toBe('config.yaml\n');
        expect(execFileSync('cat', [file], { encoding: 'utf8' })).toContain('"project":"default"');
      } finally {
        execFileSync('umount', [folder]);
        rmSync(folder, { recursive: true, force: true });
      }
    });
  });
});
