import { existsSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { pvhGuest } from './pvh-guest';
import { A, chain, expectError, expectTail, MiB, type Subject, type VmmLab } from './vmm-lab';

const actions = ['boot', 'delete', 'shutdown', 'reboot', 'pause', 'resume', 'power-button', 'nmi'];

/** Requests, the life of a VM, and what is refused. */
export const apiCases = (one: Subject, lab: VmmLab): void => {
  describe('HTTP layer', () => {
    beforeEach(() => lab.open());

    it('1: ping', async () => {
      const answer = await lab.session.get('vmm.ping');
      expect(answer.status).toBe(200);
      expect(answer.headers).toMatchObject({
        server: 'Cloud Hypervisor API',
        connection: 'keep-alive',
        'content-length': String(Buffer.byteLength(answer.text)),
      });
      expect(JSON.parse(answer.text)).toEqual({
        build_version: expect.any(String),
        version: expect.any(String),
        pid: lab.session.pid,
        features: expect.any(Array),
      });
    });
    it('2: unknown paths, with no tolerance for queries', async () => {
      for (const path of ['/api/v1/nope', '/api/v1/vm.info?x=1', '/', '/api/v1/vm.info/', '/api/v1/constructor'])
        expectError(await lab.session.ask('GET', path, null), 404, ['Not Found']);
    });
    it('3: an unknown method is refused by the HTTP library, with a raw line feed', async () => {
      const answer = await lab.session.raw('POST /api/v1/vm.boot HTTP/1.1\r\nHost: x\r\n\r\n');
      expect(answer).toMatch(/^HTTP\/1\.1 400 \r\nServer: Firecracker API\r\n/);
      expect(answer).toContain('Content-Type: application/json');
      const body = answer.slice(answer.indexOf('\r\n\r\n') + 4);
      expect(body).toContain('Unsupported HTTP method.\n');
      expect(() => JSON.parse(body)).toThrow();
    });
    it('4, 5: wrong verbs', async () => {
      expectError(await lab.session.get('vm.boot'), 400, ['Bad Request']);
      expectError(await lab.session.put('vm.counters'), 400, ['Bad Request']);
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
        ['PUT', 'vm.info'],
        ['PUT', 'vmm.ping'],
        ['GET', 'vmm.shutdown'],
        ['DELETE', 'vmm.ping'],
      ] as const) {
        if (known(method))
          expectError(await lab.session.ask(method, `/api/v1/${endpoint}`, null), 400, ['Bad Request']);
      }
    });
    it('6, 7: bodies where none belong, and none where they do', async () => {
      for (const action of actions) expectError(await lab.session.put(`vm.${action}`, '{}'), 400, ['Bad Request']);
      for (const endpoint of ['vm.resize', 'vm.snapshot', 'vm.add-disk', 'vm.remove-device'])
        expectError(await lab.session.put(endpoint), 400, ['Bad Request']);
      expect(await lab.session.put('vm.create')).toMatchObject({ status: 400, text: '' });
    });
    it('8 to 10: what does not parse', async () => {
      expectError(await lab.session.put('vm.create', '{'), 400, ['Failed to deserialize JSON', expect.any(String)]);
      expectError(await lab.session.put('vm.resize-disk', '{}'), 400, [
        'Failed to deserialize JSON',
        expect.stringMatching(/^missing field `id` at line 1 column 2/),
      ]);
      const answer = await lab.session.put('vm.create', { serial: { mode: 'pty' } });
      expectError(answer, 400, [
        'Failed to deserialize JSON',
        expect.stringContaining('unknown variant `pty`, expected one of `Off`, `Pty`, `Tty`, `File`, `Socket`, `Null`'),
      ]);
      const limited = { disks: [{ path: '/d', rate_limiter_config: { bandwith: {} } }] };
      expectError(await lab.session.put('vm.create', limited), 400, [
        'Failed to deserialize JSON',
        expect.stringContaining('unknown field `bandwith`'),
      ]);
      expect(
        (await lab.session.put('vm.create', { nonsense: 1, cpus: { boot_vcpus: 1, max_vcpus: 1, nonsense: 2 } }))
          .status,
      ).toBe(204);
    });
    it('11: 204 has neither length nor type', async () => {
      const answer = await lab.session.raw('PUT /api/v1/vm.delete HTTP/1.1\r\nHost: x\r\n\r\n');
      expect(answer).toBe('HTTP/1.1 204 \r\nServer: Cloud Hypervisor API\r\nConnection: keep-alive\r\n\r\n');
    });
    it('12: a body over the limit', async () => {
      const limit = lab.profile().bodyLimit;
      const answer = await lab.session.raw(`PUT /api/v1/vm.create HTTP/1.1\r\nContent-Length: ${limit + 1}\r\n\r\n`);
      expect(answer).toContain('HTTP/1.1 400 ');
      expect(answer).toContain(
        `Request payload with size ${limit + 1} is larger than the limit of ${limit} allowed by server.`,
      );
    });
    it('13: a chunked body is not seen, and its bytes are no request', async () => {
      const answer = await lab.session.raw(
        'PUT /api/v1/vm.create HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
      );
      const parts = answer.split('HTTP/1.1 ').filter((part) => part !== '');
      expect(parts).toEqual([expect.stringMatching(/^400 \r\nServer: Firecracker API[\s\S]*"Invalid request\.\n/)]);
    });
    it('14: the eleventh connection', async () => {
      const idle: Socket[] = [];
      try {
        for (let n = 0; n < 10; n++)
          idle.push(
            await new Promise<Socket>((resolve) => {
              const socket: Socket = connect(lab.session.socket, () => resolve(socket));
            }),
          );
        const answer = await lab.session.raw('');
        expect(answer).toContain('HTTP/1.1 503\r\n');
        expect(answer).toContain('Connection: close');
        expect(answer.endsWith('{ "error": "Too many open connections" }')).toBe(true);
      } finally {
        for (const socket of idle) socket.destroy();
      }
    });
    if (one.simulated)
      it('15: one request at a time, over all connections', async () => {
        await lab.open({ latencyMs: { 'vm.boot': 300 } });
        await lab.create();
        const order: string[] = [];
        const boot = lab.session.put('vm.boot').then(() => order.push('boot'));
        await lab.session.event('vm/booting').catch(() => undefined);
        const ping = lab.session.get('vmm.ping').then(() => order.push('ping'));
        await Promise.all([boot, ping]);
        expect(order).toEqual(['boot', 'ping']);
      });
    it('expects 100-continue to be honoured, and HTTP/2 to be refused', async () => {
      expect(
        await lab.session.raw(
          'PUT /api/v1/vm.remove-device HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}',
        ),
      ).toMatch(/^HTTP\/1\.1 100 [\s\S]*HTTP\/1\.1 400 /);
      expect(await lab.session.raw('GET /api/v1/vmm.ping HTTP/2\r\n\r\n')).toContain('HTTP/1.1 400 ');
    });
  });

  describe('create, boot, info', () => {
    beforeEach(() => lab.open());

    it('16: info of nothing', async () =>
      expectError(await lab.session.get('vm.info'), lab.status('missing'), [
        A,
        'The VM info is not available',
        'VM is not created',
      ]));
    it('17: create stores defaults', async () => {
      await lab.create();
      const info = await lab.session.info();
      expect(info).toMatchObject({
        state: 'Created',
        memory_actual_size: 536_870_912,
        config: {
          cpus: { boot_vcpus: 1, max_vcpus: 1 },
          rng: { src: '/dev/urandom' },
          serial: { mode: 'Null' },
          disks: [{ num_queues: 1, queue_size: 128 }],
        },
      });
      expect(info.device_tree).toBeUndefined();
      const { text } = await lab.session.get('vm.info');
      if (lab.profile().omitsNull) expect(text).not.toContain('null');
      else expect(text).toContain('"net":null');
    });
    it('18: create twice', async () => {
      await lab.create();
      expectError(await lab.session.put('vm.create', {}), 500, [
        A,
        'The VM could not be created',
        'VM is already created',
      ]);
      await lab.session.put('vm.delete');
      await lab.create();
    });
    it('19, 20: boot of nothing bootable, and of nothing', async () => {
      expectError(await lab.session.put('vm.boot'), lab.status('missing'), [
        A,
        'The VM could not boot',
        'VM config is missing',
      ]);
      expect(lab.session.eventNames()).toContain('vm/booting');
      expect((await lab.session.put('vm.create', {})).status).toBe(204);
      const reasons = [
        A,
        'The VM could not boot',
        'Failed to validate config',
        'Payload configuration is not bootable',
        'No bootitem provided: neither firmware nor kernel',
      ];
      expectError(await lab.session.put('vm.boot'), lab.status('validation'), reasons);
    });
    it('21: boot', async () => {
      await lab.run();
      const info = await lab.session.info();
      expect(info.state).toBe('Running');
      expect(Object.keys(info.device_tree ?? {})).toEqual(
        expect.arrayContaining(['d0', '_virtio-pci-d0', '__rng', '__serial']),
      );
      expectError(await lab.session.put('vm.boot'), 500, [A, 'The VM could not boot', 'VM is already created']);
    });
    it('22: pause and resume', async () => {
      await lab.run();
      expect((await lab.session.put('vm.pause')).status).toBe(204);
      expect((await lab.session.info()).state).toBe('Paused');
      expectError(await lab.session.put('vm.pause'), 500, [
        A,
        'The VM could not be paused',
        'Cannot pause VM',
        'Failed to pause migratable component',
        'Invalid transition: InvalidStateTransition(Paused, Paused)',
      ]);
      expect((await lab.session.put('vm.resume')).status).toBe(204);
      expectError(await lab.session.put('vm.resume'), 500, [
        A,
        'The VM could not resume',
        'Cannot resume VM',
        'Failed to resume migratable component',
        'Invalid transition: InvalidStateTransition(Running, Running)',
      ]);
    });
    it('23, 24: verbs without a VM', async () => {
      for (const created of [false, true]) {
        if (created) await lab.create();
        for (const verb of ['pause', 'resume', 'nmi', 'power-button', 'shutdown'])
          expectTail(await lab.session.put(`vm.${verb}`), 500, 'VM is not running');
        expectTail(await lab.session.put('vm.snapshot', { destination_url: 'file:///tmp' }), 500, 'VM is not running');
        expectTail(await lab.session.get('vm.counters'), 500, 'VM is not running');
        expectError(await lab.session.put('vm.reboot'), lab.status('missing'), [
          A,
          'The VM could not reboot',
          'VM is not created',
        ]);
      }
      expect(lab.session.eventNames()).toContain('vm/rebooting');
    });
    it('25, 26: shutdown keeps the configuration, delete does not', async () => {
      expect((await lab.session.put('vm.delete')).status).toBe(204);
      expect(lab.session.eventNames()).toEqual(['vmm/starting']);
      await lab.run();
      await lab.session.put('vm.pause');
      expect((await lab.session.put('vm.shutdown')).status).toBe(204);
      expect(await lab.session.info()).toMatchObject({ state: 'Created', config: { disks: [{ id: 'd0' }] } });
      expect((await lab.session.put('vm.boot')).status).toBe(204);
      expect((await lab.session.put('vm.delete')).status).toBe(204);
      expect(lab.session.eventNames().slice(-2)).toEqual(['vm/shutdown', 'vm/deleted']);
      expect((await lab.session.get('vm.info')).status).toBe(lab.status('missing'));
    });
    it('27: vmm.shutdown ends the process', async () => {
      await lab.run();
      const answer = await lab.session.put('vmm.shutdown');
      expect(answer).toMatchObject({ status: 200, text: '' });
      expect(answer.headers['content-length']).toBe('0');
      expect(await lab.session.ended).toBe(0);
      expect(lab.session.eventNames().slice(-3)).toEqual(['vm/shutdown', 'vm/deleted', 'vmm/shutdown']);
      expect(existsSync(lab.session.socket)).toBe(false);
    });
  });

  describe('validation', () => {
    beforeEach(() => lab.open());
    const failsWith = async (change: Record<string, unknown>, status: number, ...tail: unknown[]): Promise<void> => {
      await lab.create(change);
      const answer = await lab.session.put('vm.boot');
      expect(chain(answer).slice(0, 3)).toEqual([A, 'The VM could not boot', 'Failed to validate config']);
      expectTail(answer, status, ...tail);
      await lab.session.put('vm.delete');
    };
    const disk = (change: Record<string, unknown> = {}): Record<string, unknown> => ({
      path: join(lab.session.directory, 'd.raw'),
      id: 'd0',
      image_type: 'Raw',
      ...change,
    });

    it('28: payloads', async () => {
      await failsWith(
        { payload: { firmware: '/f', kernel: '/k' } },
        lab.status('validation'),
        'Specifying a kernel is not supported when a firmware is provided',
      );
      await lab.run({ payload: { firmware: lab.file('fw', pvhGuest()), cmdline: 'console=ttyS0' } });
      expect((await lab.session.get('vm.info')).text).not.toContain('console=ttyS0');
    });
    it('29: ids', async () => {
      await failsWith({ disks: [disk(), disk()] }, lab.status('duplicate'), 'Identifier d0 is not unique');
      await failsWith({ net: [{ id: 'd0' }] }, lab.status('duplicate'), 'Identifier d0 is not unique');
      await failsWith(
        { disks: [disk({ id: '__x' })] },
        lab.status('validation'),
        `Identifier __x ${lab.profile().invalidIdentifier}`,
      );
      await failsWith(
        { devices: [{ path: '/sys/x' }, { path: '/sys/x' }] },
        lab.status('duplicate'),
        'Duplicated device path: /sys/x',
      );
    });
    it('30: CPUs and queues', async () => {
      await failsWith(
        { disks: [disk({ num_queues: 2 })] },
        lab.status('validation'),
        'Queue count (2) must not exceed boot vCPUs (1)',
      );
      await failsWith(
        { cpus: { boot_vcpus: 2, max_vcpus: 1 } },
        lab.status('validation'),
        'Max CPUs (1) lower than boot CPUs (2)',
      );
      await failsWith(
        {
          cpus: {
            boot_vcpus: 1,
            max_vcpus: 1,
            topology: { threads_per_core: 2, cores_per_die: 1, dies_per_package: 1, packages: 1 },
          },
        },
        lab.status('validation'),
        'Product of CPU topology parts does not match maximum vCPU',
      );
      await failsWith(
        { disks: [disk({ serial: 'x'.repeat(21) })] },
        lab.status('validation'),
        'Block device serial length (21) exceeds maximum allowed length (20)',
      );
    });
    it('31: memory, vsock, MTU, balloon', async () => {
      await failsWith(
        { fs: [{ tag: 't', socket: '/s' }] },
        lab.status('validation'),
        'Using vhost-user requires using shared memory or huge pages',
      );
      await failsWith({ vsock: { cid: 2, socket: '/s' } }, lab.status('validation'), '2 is a special VSOCK CID');
      await failsWith(
        { net: [{ mtu: 1000 }] },
        lab.status('validation'),
        'Provided MTU 1000 is lower than 1280 (expected by VIRTIO specification)',
      );
      await failsWith(
        { balloon: { size: 512 * MiB } },
        lab.status('validation'),
        `Balloon size (${512 * MiB}) greater than RAM (${512 * MiB})`,
      );
      await failsWith(
        { memory: { size: MiB, shared: true, mergeable: true } },
        lab.status('validation'),
        "Invalid to set both 'mergeable' and 'shared' for memory",
      );
      await failsWith(
        { platform: { num_pci_segments: 97 } },
        lab.status('validation'),
        'Number of PCI segments (97) not in range of 1 to 96',
      );
    });
  });
};
