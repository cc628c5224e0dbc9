import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from '../support/wait-for';
import type { Casebook } from './lab/casebook';
import { plainGuest } from './lab/plain-guest';
import { A, chain, expectError, type VmmLab } from './lab/vmm-lab';

/** What guests do, and what is seen of the program itself: its socket, its events, its end. */
export const processCases = (book: Casebook, lab: VmmLab): void => {
  book.add(
    62,
    async () => {
      await lab.run(lab.serial());
      (await lab.console()).type('p');
      expect(await lab.session.ended).toBe(0);
      await lab.session.lastEvents('vm/shutdown', 'vm/deleted', 'vmm/shutdown');
    },
    { needs: ['guest'] },
  );
  book.add(
    62,
    async () => {
      // The option is of v52.
      const stays = lab.profile().canStay;
      await lab.open({}, { args: stays ? ['--no-shutdown'] : [] });
      await lab.run(lab.serial());
      (await lab.console()).type('p');
      if (!stays) {
        expect(await lab.session.ended).toBe(0);
        return;
      }
      await lab.session.lastEvents('vm/booted', 'vm/shutdown');
      expect(await lab.session.info()).toMatchObject({ state: 'Created', config: { disks: [{ id: 'd0' }] } });
      expect((await lab.session.put('vm.boot')).status).toBe(204);
    },
    { part: 'and --no-shutdown', needs: ['guest'], opens: true },
  );
  book.add(
    63,
    async () => {
      await lab.run(lab.serial());
      const { pid } = lab.session;
      (await lab.console()).type('r');
      await lab.session.event('vm/rebooted');
      expect(lab.session.eventNames()).toContain('vm/rebooting');
      (await lab.console()).close();
      expect((await lab.session.info()).state).toBe('Running');
      expect(JSON.parse((await lab.session.get('vmm.ping')).text)).toMatchObject({ pid });
    },
    { needs: ['guest'] },
  );
  book.add(
    63,
    async () => {
      const log = join(lab.session.directory, 'serial.log');
      const lines = (): number => readFileSync(log, 'utf8').split('ready').length - 1;
      const ready = (): Promise<boolean> => waitFor('one boot in the serial file', () => lines() === 1);
      await lab.run({ serial: { mode: 'File', file: log } });
      await ready();
      expect((await lab.session.put('vm.reboot')).status).toBe(204);
      // Written anew: one boot only.
      await ready();
    },
    { part: 'the serial file starts anew', needs: ['guest'] },
  );
  book.add(
    64,
    async () => {
      await lab.run({
        ...lab.serial(),
        pvpanic: true,
        payload: { kernel: lab.file('panicking', plainGuest()) },
      });
      (await lab.console()).type('c');
      expect((await lab.session.event('guest/panic')).properties).toEqual({ event: 'panic' });
      expect((await lab.session.info()).state).toBe('Running');
    },
    { needs: ['panic'] },
  );
  book.add(65, async () => {
    await lab.run();
    process.kill(lab.session.pid, 'SIGTERM');
    expect(await lab.session.ended).toBe(0);
    await lab.session.lastEvents('vm/shutdown', 'vm/deleted', 'vmm/shutdown');
    const { directory } = lab.session;
    const second = await lab.open({}, { directory });
    await second.kill();
    expect(existsSync(second.socket)).toBe(true);
    expect(existsSync(`${second.socket}.lock`)).toBe(lab.profile().locksSocket);
    const third = await lab.open({}, { directory });
    if (lab.profile().locksSocket) expect((await third.get('vmm.ping')).status).toBe(200);
    else {
      expect(await third.ended).toBe(1);
      expect(third.errors()).toContain('Address already in use (os error 98)');
    }
  });
  book.add(66, async () => {
    const first = lab.session;
    const second = await lab.open({}, { directory: first.directory });
    expect(await second.ended).toBe(1);
    expect(second.errors()).toContain(
      lab.profile().locksSocket
        ? `API socket "${first.socket}" is already in use by another running instance`
        : 'Address already in use (os error 98)',
    );
    expect((await first.get('vmm.ping')).status).toBe(200);
  });
  book.add(67, async () => {
    await lab.run();
    await lab.session.put('vm.delete');
    await lab.session.lastEvents('vm/shutdown', 'vm/deleted');
    const parts = lab.session.eventText().split('\n\n');
    expect(parts.pop()).toBe('');
    const events = parts.map(
      (part) => JSON.parse(part) as { timestamp: { secs: number; nanos: number }; properties: unknown },
    );
    expect(parts[0]).toContain('{\n  "timestamp": {\n');
    expect(events[0]?.properties).toBeNull();
    const times = events.map(({ timestamp }) => timestamp.secs * 1e9 + timestamp.nanos);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    // Since the start, not since 1970.
    expect(events.at(-1)?.timestamp.secs).toBeLessThan(3600);
  });
  book.add(
    67,
    async () => {
      await lab.open({ eventLoss: 1 });
      await lab.run();
      expect(lab.session.eventText()).toBe('');
    },
    { part: 'events that are lost', needs: ['knobs'], opens: true },
  );
  book.add(68, async () => {
    await lab.run({ net: [{ id: 'n0' }] });
    const { text } = await lab.session.get('vm.counters');
    expect(text).toContain('"read_latency_min":18446744073709551615');
    const counters = JSON.parse(text) as Record<string, Record<string, number>>;
    expect(Object.keys(counters['d0'] ?? {})).toHaveLength(10);
    // An average of none is that number divided by 10,000, as the VMM keeps it.
    expect(counters['d0']).toMatchObject({
      read_bytes: 0,
      write_ops: 0,
      read_latency_avg: 1_844_674_407_370_955,
      write_latency_avg: 1_844_674_407_370_955,
    });
    expect(Object.keys(counters['n0'] ?? {}).sort()).toEqual(['rx_bytes', 'rx_frames', 'tx_bytes', 'tx_frames']);
  });
  book.add(69, async () => {
    await lab.run();
    expect((await lab.session.put('vm.nmi')).status).toBe(204);
    expect((await lab.session.put('vm.power-button')).status).toBe(204);
  });
  book.add(
    69,
    async () => {
      await lab.run(lab.serial());
      const serial = await lab.console();
      serial.type('i');
      await serial.expect('i');
      expect((await lab.session.put('vm.power-button')).status).toBe(204);
      await serial.expect('button');
      expect((await lab.session.info()).state).toBe('Running');
    },
    { part: 'a guest that ignores it', needs: ['button'] },
  );
  book.add(
    69,
    async () => {
      await lab.open({ powerOffMs: 20 });
      await lab.run(lab.serial());
      await lab.console();
      expect((await lab.session.put('vm.power-button')).status).toBe(204);
      expect(await lab.session.ended).toBe(0);
    },
    { part: 'a guest that obeys it', needs: ['button'], opens: true },
  );
  book.add(70, async () => {
    expectError(await lab.session.put('vm.boot'), lab.status('missing'), [
      A,
      'The VM could not boot',
      'VM config is missing',
    ]);
    // And whatever all the other cases were answered.
    for (const answer of [...lab.answered(), ...lab.session.answers]) {
      expect(answer.text).not.toMatch(/<(html|body|!doctype)/i);
      if (answer.status < 400 || answer.text === '' || answer.headers['server'] !== 'Cloud Hypervisor API') continue;
      const reasons = chain(answer);
      expect([answer.request, reasons.length]).toEqual([answer.request, expect.any(Number)]);
      expect(reasons.length).toBeGreaterThan(0);
      expect(reasons.every((reason) => typeof reason === 'string')).toBe(true);
    }
  });
};
