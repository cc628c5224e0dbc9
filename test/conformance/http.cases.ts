import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Casebook } from './lab/casebook';
import { expectError, type VmmLab } from './lab/vmm-lab';

const actions = ['boot', 'delete', 'shutdown', 'reboot', 'pause', 'resume', 'power-button', 'nmi'];
const needBodies = ['resize', 'resize-disk', 'resize-zone', 'snapshot', 'restore', 'add-disk', 'remove-device'];

/** A connection that was answered a first time, and what comes after that. */
const introduced = (path: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket: Socket = connect(path, () => socket.write('GET /api/v1/vmm.ping HTTP/1.1\r\n\r\n'));
    socket.once('error', reject);
    socket.once('data', () => resolve(socket));
  });

/** Requests, before the VMM is asked. */
export const httpCases = (book: Casebook, lab: VmmLab): void => {
  book.add(1, async () => {
    const answer = await lab.session.get('vmm.ping');
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      server: 'Cloud Hypervisor API',
      connection: 'keep-alive',
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(answer.text)),
    });
    expect(JSON.parse(answer.text)).toEqual({
      build_version: expect.any(String),
      version: expect.any(String),
      pid: lab.session.pid,
      features: expect.any(Array),
    });
  });
  book.add(2, async () => {
    for (const path of ['/api/v1/nope', '/api/v1/vm.info?x=1', '/', '/api/v1/vm.info/', '/api/v1/constructor'])
      expectError(await lab.session.ask('GET', path, null), 404, ['Not Found']);
  });
  book.add(3, async () => {
    const answer = await lab.session.raw('POST /api/v1/vm.boot HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 400 \r\nServer: Firecracker API\r\n/);
    expect(answer).toContain('Content-Type: application/json');
    const body = answer.slice(answer.indexOf('\r\n\r\n') + 4);
    expect(body).toContain('Unsupported HTTP method.\n');
    expect(() => JSON.parse(body)).toThrow();
  });
  book.add(4, async () => {
    for (const action of actions) expectError(await lab.session.get(`vm.${action}`), 400, ['Bad Request']);
    expectError(await lab.session.put('vm.counters'), 400, ['Bad Request']);
    for (const endpoint of ['vm.info', 'vmm.ping']) expectError(await lab.session.put(endpoint), 400, ['Bad Request']);
    expectError(await lab.session.get('vmm.shutdown'), 400, ['Bad Request']);
  });
  book.add(5, async () => {
    const known = (method: string): boolean => lab.profile().methods.includes(method);
    for (const [method, endpoint] of [
      ['PATCH', 'vm.boot'],
      ['DELETE', 'vm.delete'],
    ] as const) {
      const answer = await lab.session.ask(method, `/api/v1/${endpoint}`, null);
      if (!known(method))
        expect(answer).toMatchObject({ status: 400, text: expect.stringContaining('Unsupported HTTP method.') });
      else expect(answer).toMatchObject({ status: 400, text: '', headers: { 'content-length': '0' } });
    }
    for (const [method, endpoint] of [
      ['PATCH', 'vm.create'],
      ['PATCH', 'vm.info'],
      ['DELETE', 'vmm.ping'],
      ['DELETE', 'vmm.shutdown'],
    ] as const) {
      if (known(method)) expectError(await lab.session.ask(method, `/api/v1/${endpoint}`, null), 400, ['Bad Request']);
    }
  });
  book.add(6, async () => {
    for (const action of actions) expectError(await lab.session.put(`vm.${action}`, '{}'), 400, ['Bad Request']);
  });
  book.add(7, async () => {
    for (const endpoint of needBodies) expectError(await lab.session.put(`vm.${endpoint}`), 400, ['Bad Request']);
    expect(await lab.session.put('vm.create')).toMatchObject({ status: 400, text: '' });
  });
  const notJson = async (endpoint: string, body: unknown, reason: unknown): Promise<void> =>
    expectError(await lab.session.put(endpoint, body), 400, ['Failed to deserialize JSON', reason]);
  book.add(8, async () => {
    await notJson('vm.create', '{', 'EOF while parsing an object at line 1 column 1');
    await notJson('vm.create', '{"cpus":', 'EOF while parsing a value at line 1 column 8');
    await notJson('vm.create', '{"cpus"}', 'expected `:` at line 1 column 8');
    await notJson('vm.create', '{"payload":{}} x', 'trailing characters at line 1 column 16');
    await notJson('vm.create', '{"disks":[{"path":"/d"},]}', 'trailing comma at line 1 column 25');
    await notJson('vm.create', '{\n "memory": {}\n}', 'missing field `size` at line 2 column 13');
    await notJson('vm.create', '"x"', 'invalid type: string "x", expected struct VmConfig at line 1 column 3');
    await notJson('vm.create', '{"disks":{}}', 'invalid type: map, expected a sequence at line 1 column 9');
    await notJson(
      'vm.create',
      '{"cpus":{"boot_vcpus":"a","max_vcpus":1}}',
      'invalid type: string "a", expected u32 at line 1 column 25',
    );
    await notJson(
      'vm.create',
      '{"cpus":{"boot_vcpus":-1,"max_vcpus":1}}',
      'invalid value: integer `-1`, expected u32 at line 1 column 24',
    );
    await notJson(
      'vm.create',
      '{"net":[{"mac":"zz"}]}',
      'The provided MAC address is invalid: parsing of zz into a MAC address failed at line 1 column 20',
    );
    if (lab.profile().omitsNull)
      await notJson(
        'vm.create',
        '[]',
        'invalid length 2, expected struct VmConfig with 28 elements at line 1 column 2',
      );
    await notJson('vm.create', '{"net":[{"ip":"x"}]}', 'invalid IP address syntax at line 1 column 17');
    await notJson('vm.create', '{"a":[1,]}', 'expected value at line 1 column 9');
    await notJson('vm.create', '{"a":01}', 'invalid number at line 1 column 7');
    await notJson(
      'vm.create',
      '{"console":{"mode":1}}',
      'invalid type: integer `1`, expected string or map at line 1 column 21',
    );
    await notJson('vm.resize-disk', '{}', 'missing field `id` at line 1 column 2');
    await notJson('vm.resize-disk', '{"id":"d0"}', 'missing field `desired_size` at line 1 column 11');
  });
  book.add(9, () =>
    notJson(
      'vm.create',
      { serial: { mode: 'pty' } },
      'unknown variant `pty`, expected one of `Off`, `Pty`, `Tty`, `File`, `Socket`, `Null` at line 1 column 24',
    ),
  );
  book.add(10, async () => {
    await notJson(
      'vm.create',
      { disks: [{ path: '/d', rate_limiter_config: { bandwith: {} } }] },
      expect.stringContaining('unknown field `bandwith`, expected `bandwidth` or `ops`'),
    );
    expect(
      (await lab.session.put('vm.create', { nonsense: 1, cpus: { boot_vcpus: 1, max_vcpus: 1, nonsense: 2 } })).status,
    ).toBe(204);
  });
  book.add(11, async () => {
    const answer = await lab.session.raw('PUT /api/v1/vm.delete HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(answer).toBe('HTTP/1.1 204 \r\nServer: Cloud Hypervisor API\r\nConnection: keep-alive\r\n\r\n');
  });
  book.add(12, async () => {
    const limit = lab.profile().bodyLimit;
    const answer = await lab.session.raw(`PUT /api/v1/vm.create HTTP/1.1\r\nContent-Length: ${limit + 1}\r\n\r\n`);
    expect(answer).toContain('HTTP/1.1 400 ');
    expect(answer).toContain(
      `Request payload with size ${limit + 1} is larger than the limit of ${limit} allowed by server.`,
    );
  });
  book.add(13, async () => {
    const answer = await lab.session.raw(
      'PUT /api/v1/vm.create HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
    );
    const parts = answer.split('HTTP/1.1 ').filter((part) => part !== '');
    expect(parts).toEqual([expect.stringMatching(/^400 \r\nServer: Firecracker API[\s\S]*"Invalid request\.\n/)]);
  });
  book.add(14, async () => {
    const idle: Socket[] = [];
    try {
      for (let n = 0; n < 10; n++) idle.push(await introduced(lab.session.socket));
      const answer = await lab.session.raw('');
      expect(answer).toContain('HTTP/1.1 503\r\n');
      expect(answer).toContain('Connection: close');
      expect(answer.endsWith('{ "error": "Too many open connections" }')).toBe(true);
    } finally {
      for (const socket of idle) socket.destroy();
    }
  });
  book.add(
    15,
    async () => {
      await lab.open({ latencyMs: { 'vm.boot': 300 } });
      // A boot takes a real VMM a while where it has memory to touch.
      await lab.create({ memory: { size: 512 * 1024 * 1024, prefault: true } });
      const first = await introduced(lab.session.socket);
      const second = await introduced(lab.session.socket);
      let booted = false;
      first.once('data', () => (booted = true));
      first.write('PUT /api/v1/vm.boot HTTP/1.1\r\n\r\n');
      await lab.session.event('vm/booting');
      second.write('GET /api/v1/vmm.ping HTTP/1.1\r\n\r\n');
      await once(second, 'data');
      // What came before it has been read by now, whichever was read first.
      await new Promise((resolve) => setImmediate(resolve));
      expect(booted).toBe(true);
      first.destroy();
      second.destroy();
    },
    { opens: true },
  );
  it('100-continue is honoured, and HTTP/2 is refused', async () => {
    await lab.open();
    expect(
      await lab.session.raw(
        'PUT /api/v1/vm.remove-device HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}',
      ),
    ).toMatch(/^HTTP\/1\.1 100 [\s\S]*HTTP\/1\.1 400 /);
    expect(await lab.session.raw('GET /api/v1/vmm.ping HTTP/2\r\n\r\n')).toContain('HTTP/1.1 400 ');
  });
};
