import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { SerialClient } from './serial-client';
import type { Answer } from './vmm-session';
import { A, chain, expectError, expectTail, type Subject, type VmmLab } from './vmm-lab';

/** Snapshots of a guest's state, and what guests do. */
export const guestCases = (one: Subject, lab: VmmLab): void => {
  // A KVM that does not run guests does not give away their state either.
  if (one.guests)
    describe('snapshot and restore', () => {
      beforeEach(() => lab.open());
      const snapshot = (url: string): Promise<Answer> => lab.session.put('vm.snapshot', { destination_url: url });

      it('55, 56: snapshots', async () => {
        await lab.run();
        expectError(await snapshot('file:///tmp'), 500, [
          A,
          'The VM could not be snapshotted',
          'Cannot snapshot VM',
          'Failed to snapshot migratable component',
          'Trying to snapshot while VM is running',
        ]);
        await lab.session.put('vm.pause');
        expectTail(
          await snapshot('/x'),
          500,
          'Cannot send VM snapshot',
          'Failed to send migratable component snapshot',
          'Could not extract path from URL: /x',
        );
        expectTail(await snapshot('file:///nonexistent'), 500, 'Destination is not a directory: "/nonexistent"');
        const directory = join(lab.session.directory, 'snap');
        mkdirSync(directory);
        expect((await snapshot(`file://${directory}`)).status).toBe(204);
        for (const name of ['config.json', 'state.json', 'memory-ranges'])
          expect(existsSync(join(directory, name))).toBe(true);
        expect((await lab.session.info()).state).toBe('Paused');
        expectTail(
          await snapshot(`file://${directory}`),
          500,
          'Error creating VM config snapshot file',
          'File exists (os error 17)',
        );
        expect((await lab.session.put('vm.resume')).status).toBe(204);
      });
      it('57, 58: restores', async () => {
        await lab.run({ serial: { mode: 'Pty' } });
        await lab.session.put('vm.pause');
        const directory = join(lab.session.directory, 'snap');
        mkdirSync(directory);
        await snapshot(`file://${directory}`);
        const before = (await lab.session.info()).config as unknown as { serial: { file: string } };
        const restore = (change: Record<string, unknown> = {}): Promise<Answer> =>
          lab.session.put('vm.restore', { source_url: `file://${directory}`, ...change });
        expectError(await restore(), 500, [A, 'The VM could not be restored', 'VM is already created']);
        await lab.session.put('vm.delete');
        expectTail(
          await restore({ source_url: 'file:///nonexistent' }),
          500,
          'Cannot restore VM',
          'Failed to send migratable component snapshot',
          'Destination is not a directory: "/nonexistent"',
        );
        const empty = join(lab.session.directory, 'empty');
        mkdirSync(empty);
        expect(chain(await restore({ source_url: `file://${empty}` }))).toContain(
          'Failed to receive migratable component snapshot',
        );
        expectTail(
          await restore({ prefault: true, memory_restore_mode: 'OnDemand' }),
          lab.status('validation'),
          "'prefault' cannot be combined with 'memory_restore_mode=ondemand'",
        );
        expect((await lab.session.get('vm.info')).status).toBe(lab.status('missing'));
        expect((await restore()).status).toBe(204);
        const after = await lab.session.info();
        expect(after.state).toBe('Paused');
        expect((after.config as unknown as typeof before).serial.file).toMatch(/^\/dev\/pts\//);
        expect({ ...after.config, serial: null }).toEqual({ ...before, serial: null });
        expect(lab.session.eventNames()).toEqual(expect.arrayContaining(['vm/restoring', 'vm/restored']));
        await lab.session.put('vm.delete');
        await restore({ resume: true });
        expect((await lab.session.info()).state).toBe('Running');
      });
      it.skip('59 to 61: live migration (not simulated; no driver uses it)', () => undefined);
    });

  if (one.guests)
    describe('guest', () => {
      const console = async (): Promise<SerialClient> => {
        const client = await SerialClient.connect(join(lab.session.directory, 's.sock'));
        if (lab.profile().buffersSerial) await client.expect('ready');
        return client;
      };
      const withSerial = (): Record<string, unknown> => ({
        serial: { mode: 'Socket', socket: join(lab.session.directory, 's.sock') },
      });

      it('62: power-off by the guest', async () => {
        await lab.open();
        await lab.run(withSerial());
        (await console()).type('p');
        expect(await lab.session.ended).toBe(0);
        expect(lab.session.eventNames().slice(-3)).toEqual(['vm/shutdown', 'vm/deleted', 'vmm/shutdown']);
        await lab.open({}, true);
        await lab.run(withSerial());
        (await console()).type('p');
        await lab.session.event('vm/shutdown');
        expect(await lab.session.info()).toMatchObject({ state: 'Created' });
        expect(lab.session.eventNames()).not.toContain('vmm/shutdown');
      });
      it('63: reboot by the guest', async () => {
        await lab.open();
        await lab.run(withSerial());
        (await console()).type('r');
        await lab.session.event('vm/rebooted');
        (await console()).close();
        expect((await lab.session.info()).state).toBe('Running');
      });
      it('68: counters, with numbers beyond what JavaScript holds', async () => {
        await lab.open();
        await lab.run({ net: [{ id: 'n0' }] });
        const { text } = await lab.session.get('vm.counters');
        expect(text).toContain('"read_latency_min":18446744073709551615');
        const counters = JSON.parse(text) as Record<string, Record<string, number>>;
        expect(Object.keys(counters['d0'] ?? {})).toHaveLength(10);
        expect(counters['n0']).toEqual({ rx_bytes: 0, rx_frames: 0, tx_bytes: 0, tx_frames: 0 });
      });
      if (one.simulated)
        it('69: power button and NMI', async () => {
          await lab.open({ obeyPowerButton: false });
          await lab.run(withSerial());
          const serial = await console();
          expect((await lab.session.put('vm.nmi')).status).toBe(204);
          expect((await lab.session.put('vm.power-button')).status).toBe(204);
          await serial.expect('button');
          expect((await lab.session.info()).state).toBe('Running');
          await lab.open({ powerOffMs: 20 });
          await lab.run();
          await lab.session.put('vm.power-button');
          expect(await lab.session.ended).toBe(0);
        });
      it('67: the shape of the event stream', async () => {
        await lab.open();
        await lab.run();
        const parts = lab.session.eventText().split('\n\n');
        expect(parts.pop()).toBe('');
        const events = parts.map(
          (part) => JSON.parse(part) as { timestamp: { secs: number; nanos: number }; properties: unknown },
        );
        expect(parts[0]).toContain('{\n  "timestamp": {\n');
        expect(events[0]?.properties).toBeNull();
        const times = events.map(({ timestamp }) => timestamp.secs * 1e9 + timestamp.nanos);
        expect(times).toEqual([...times].sort((a, b) => a - b));
        if (!one.simulated) return;
        await lab.open({ eventLoss: 1 });
        await lab.run();
        expect(lab.session.eventText()).toBe('');
      });
    });
};
