import { existsSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { waitFor } from '../support/wait-for';
import type { Casebook } from './lab/casebook';
import { A, expectError, expectTail, type VmmLab } from './lab/vmm-lab';
import type { Answer } from './lab/vmm-session';

/** The other end of a migration that takes the connection and says nothing more, until it hangs up. */
const silentPeer = (path: string): Promise<{ reached: Promise<void>; hangUp: () => void }> =>
  new Promise((resolve, reject) => {
    const sockets: Socket[] = [];
    let arrived: () => void = () => undefined;
    const reached = new Promise<void>((done) => (arrived = done));
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      sockets.push(socket);
      arrived();
    });
    server.once('error', reject);
    server.listen(path, () =>
      resolve({
        reached,
        hangUp: () => {
          for (const socket of sockets) socket.destroy();
          server.close();
        },
      }),
    );
  });

/** Sees to it that a call is not answered for now; its answer is had by calling what is returned. */
const unanswered = async (asked: Promise<Answer>): Promise<() => Promise<Answer>> => {
  const waited = new Promise<string>((resolve) => setTimeout(resolve, 200, 'nothing'));
  expect(await Promise.race([asked.then(() => 'an answer'), waited])).toBe('nothing');
  return () => asked;
};

const locked = "VM is currently migrating and can't be modified";

/** What ends the process of a release that sends in the background, and does something else meanwhile. */
const whileAway = (book: Casebook, lab: VmmLab): void => {
  const sendAway = async (): Promise<{ hangUp: () => void }> => {
    const place = join(lab.session.directory, 'm.sock');
    const peer = await silentPeer(place);
    expect((await lab.session.put('vm.send-migration', { destination_url: `unix:${place}` })).status).toBe(204);
    await peer.reached;
    return peer;
  };

  book.add(
    60,
    async () => {
      await lab.run();
      const peer = await sendAway();
      expectError(await lab.session.put('vmm.shutdown'), 500, [A, 'The VMM could not shutdown', locked]);
      // Nothing is answered well from then on, and when the VM is its own again the process ends.
      const unheard = lab.session.get('vmm.ping').then(
        ({ status }) => status,
        () => 'cut off',
      );
      peer.hangUp();
      expect(await lab.session.ended).toBe(0);
      expect(await unheard).not.toBe(200);
    },
    { part: 'vmm.shutdown is refused, and comes' },
  );
  book.add(
    60,
    async () => {
      await lab.run(lab.serial());
      const serial = await lab.console();
      const peer = await sendAway();
      serial.type('r');
      await lab.session.event('vm/rebooting');
      // A real one waits for its worker first.
      peer.hangUp();
      expect(await lab.session.ended).toBe(1);
    },
    { part: 'a reset by the guest is fatal', needs: ['guest'] },
  );
};

/** A VM that moves to another VMM. */
export const migrationCases = (book: Casebook, lab: VmmLab): void => {
  const { background, sendHeading, receiveHeading } = lab.profile().migration;
  const send = (url: string, change: Record<string, unknown> = {}): Promise<Answer> =>
    lab.session.put('vm.send-migration', { destination_url: url, ...change });
  const receive = (url: string): Promise<Answer> => lab.session.put('vm.receive-migration', { receiver_url: url });
  const refused = (...rest: unknown[]): unknown[] => [
    A,
    sendHeading,
    'Failed to send migratable component snapshot',
    ...rest,
  ];
  const place = (name: string): string => join(lab.session.directory, name);

  book.add(
    59,
    async () => {
      const target = `unix:${place('m.sock')}`;
      expectError(await lab.session.put('vm.send-migration', {}), 400, [
        'Failed to deserialize JSON',
        'missing field `destination_url` at line 1 column 2',
      ]);
      if (background) expectError(await send(target), 500, refused('VM is not running'));
      await lab.create();
      expectError(await send(target), 500, refused('VM is not running'));
      await lab.session.put('vm.boot');
      if (background) {
        const invalid = 'Error validating send migration parameters: ';
        for (const url of ['x', 'unix:', 'tcp:nowhere'])
          expectError(
            await send(url),
            500,
            refused(
              'Invalid send migration configuration',
              `${invalid}destination_url must use tcp:<host>:<port> or unix:<path>.`,
              ...(url === 'tcp:nowhere' ? ['Missing TCP port'] : []),
            ),
          );
        expectTail(
          await send('tcp:127.0.0.1:1', { local: true }),
          500,
          `${invalid}local option is only supported with UNIX sockets.`,
        );
      } else expectTail(await send('x'), 500, 'Could not extract path from URL: x');
      expectError(
        await send(target, { local: true }),
        500,
        refused('Local migration requires shared memory or hugepages enabled'),
      );
      expect((await lab.session.info()).state).toBe('Running');
    },
    { part: 'what is refused' },
  );
  book.add(
    59,
    async () => {
      await lab.run();
      const answer = await send(`unix:${place('nobody.sock')}`);
      if (background) {
        expect(answer.status).toBe(204);
        await lab.session.lastEvents('vm/migration-started', 'vm/migration-failed');
      } else {
        expect(answer.status).toBe(500);
        expect(answer.text).toContain('Error connecting to UNIX socket');
      }
      await waitFor('the VM to be its own again', async () => (await lab.session.put('vm.pause')).status === 204);
    },
    { part: 'nobody receives it' },
  );
  book.add(
    59,
    async () => {
      const target = await lab.open();
      const url = `unix:${place('m.sock')}`;
      const received = receive(url);
      if (background) await target.event('vm/migration-receive-ready');
      else await waitFor('the listener', () => existsSync(place('m.sock')));
      const source = await lab.open();
      await lab.run();
      const before = await source.info();
      expect((await send(url)).status).toBe(204);
      expect((await received).status).toBe(204);
      expect(await source.ended).toBe(0);
      const after = await target.info();
      expect(after.state).toBe('Running');
      expect(after.config).toEqual(before.config);
      if (!background) return;
      const names = source.eventNames();
      for (const name of ['vm/migration-started', 'vm/migration-memory-iteration', 'vm/migration-finished'])
        expect(names).toContain(name);
      await target.event('vm/migration-receive-finished');
      // What the guest does once it is here is told behind these.
      const told = target.eventNames().filter((name) => name.startsWith('vm/'));
      expect(told.slice(0, 7)).toEqual([
        'vm/migration-receive-ready',
        'vm/migration-receive-started',
        'vm/restoring',
        'vm/restored',
        'vm/resuming',
        'vm/resumed',
        'vm/migration-receive-finished',
      ]);
    },
    { part: 'from one VMM to another', needs: ['state'], opens: true },
  );
  book.add(60, async () => {
    await lab.run();
    const before = await lab.session.info();
    const peer = await silentPeer(place('m.sock'));
    const sent = send(`unix:${place('m.sock')}`);
    await peer.reached;
    if (!background) {
      // The release sends within the call: everybody else waits for its end.
      const ping = await unanswered(lab.session.get('vmm.ping'));
      peer.hangUp();
      expect((await sent).status).toBe(500);
      expect((await ping()).status).toBe(200);
      return;
    }
    expect((await sent).status).toBe(204);
    expect(await lab.session.info()).toEqual(before);
    expect((await lab.session.get('vmm.ping')).status).toBe(200);
    for (const verb of ['pause', 'resume', 'shutdown', 'reboot', 'delete', 'boot', 'power-button', 'nmi'])
      expectTail(await lab.session.put(`vm.${verb}`), 500, locked);
    expectTail(await lab.session.put('vm.create', {}), 500, lab.profile().migration.create);
    expectTail(await lab.session.put('vm.resize', { desired_vcpus: 1 }), 500, locked);
    expectTail(await lab.session.put('vm.resize-disk', { id: 'd0', desired_size: 512 }), 500, locked);
    expectTail(await lab.session.put('vm.add-disk', { path: '/x', id: 'e0', image_type: 'Raw' }), 500, locked);
    expectTail(await lab.session.put('vm.remove-device', { id: 'd0' }), 500, locked);
    expectTail(await lab.session.put('vm.snapshot', { destination_url: 'file:///tmp' }), 500, locked);
    expectError(await send(`unix:${place('m.sock')}`), 500, refused('There is already an ongoing migration'));
    expectTail(await receive(`unix:${place('n.sock')}`), 500, 'There is already an ongoing migration');
    peer.hangUp();
    await lab.session.event('vm/migration-failed');
    await waitFor('the VM to be its own again', async () => (await lab.session.put('vm.pause')).status === 204);
  });
  if (background) whileAway(book, lab);
  book.add(61, async () => {
    const url = `unix:${place('m.sock')}`;
    const received = receive(url);
    if (background) await lab.session.event('vm/migration-receive-ready');
    else await waitFor('the listener', () => existsSync(place('m.sock')));
    const ping = await unanswered(lab.session.get('vmm.ping'));
    await new Promise<void>((resolve, reject) => {
      const sender: Socket = connect(place('m.sock'), () => {
        sender.destroy();
        resolve();
      });
      sender.once('error', reject);
    });
    const answer = await received;
    expect(answer.status).toBe(500);
    expect(answer.text).toContain(receiveHeading);
    expect((await ping()).status).toBe(200);
    expect((await lab.session.get('vm.info')).status).toBe(lab.status('missing'));
    if (!background) return;
    await lab.run();
    expectError(await receive(`unix:${place('n.sock')}`), 500, [
      A,
      receiveHeading,
      'Failed to receive migratable component snapshot',
      "Can't receive a migration when a VM is already created",
    ]);
  });
};
