import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SerialClient } from '../integration/compute/serial-client';
import type { Casebook } from './lab/casebook';
import { A, expectError, expectTail, type VmmLab } from './lab/vmm-lab';

/** Where the guest's serial port goes. */
export const consoleCases = (book: Casebook, lab: VmmLab): void => {
  book.add(37, async () => {
    expectError(await lab.session.put('vm.create', { console: { mode: 'Socket' } }), 500, [
      A,
      'The VM could not be created',
      'Error creating console devices',
      'No socket option support for console device',
    ]);
    expectTail(await lab.session.put('vm.create', {}), 500, 'VM is already created');
    expect((await lab.session.put('vm.delete')).status).toBe(204);
    await lab.create();
  });
  book.add(38, async () => {
    const pty = async (): Promise<string> => {
      const { file } = ((await lab.session.info()).config as unknown as { serial: { file: string } }).serial;
      expect(file).toMatch(/^\/dev\/pts\/\d+$/);
      expect(statSync(file).isCharacterDevice()).toBe(true);
      return file;
    };
    await lab.create({ serial: { mode: 'Pty' } });
    const first = await pty();
    await lab.session.put('vm.boot');
    expect(await pty()).toBe(first);
    await lab.session.put('vm.reboot');
    await pty();
    await lab.session.put('vm.shutdown');
    await lab.session.put('vm.boot');
    await pty();
  });
  book.add(
    38,
    async () => {
      await lab.run({ serial: { mode: 'Pty' } });
      const { file } = ((await lab.session.info()).config as unknown as { serial: { file: string } }).serial;
      const terminal = await SerialClient.terminal(file);
      terminal.type('x');
      await terminal.expect('x');
      terminal.close();
    },
    { part: 'the guest answers on its pty', needs: ['guest'] },
  );
  book.add(39, async () => {
    // The process may be gone before the answer is read.
    const answer = await lab.session.put('vm.create', { serial: { mode: 'File' } }).catch(() => null);
    if (answer) expectError(answer, 500, [A, 'API response receive error', 'receiving on a closed channel']);
    expect(await lab.session.ended).toBe(1);
    expect(existsSync(lab.session.socket)).toBe(true);
  });
  book.add(40, async () => {
    const answer = await lab.session.put(
      'vm.create',
      lab.basic({ serial: { mode: 'Socket', socket: lab.file('serial.sock') } }),
    );
    expectError(answer, 500, [
      A,
      'The VM could not be created',
      'Error creating console devices',
      'Error creating console device',
      'Address already in use (os error 98)',
    ]);
    expectTail(await lab.session.put('vm.create', {}), 500, 'VM is already created');
  });
  book.add(
    40,
    async () => {
      await lab.run(lab.serial());
      const socket = join(lab.session.directory, 's.sock');
      const first = await lab.console();
      const second = await SerialClient.connect(socket);
      second.type('x');
      await second.expect('x');
      await first.ended();
      second.close();
    },
    { part: 'a second client displaces the first', needs: ['guest'] },
  );
};
