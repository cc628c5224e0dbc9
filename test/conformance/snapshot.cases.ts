import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Casebook } from './lab/casebook';
import { A, chain, expectError, expectTail, MiB, type VmmLab } from './lab/vmm-lab';
import type { Answer } from './lab/vmm-session';

/** A guest's state on disk, and back. */
export const snapshotCases = (book: Casebook, lab: VmmLab): void => {
  const snapshot = (url: string): Promise<Answer> => lab.session.put('vm.snapshot', { destination_url: url });
  const restore = (directory: string, change: Record<string, unknown> = {}): Promise<Answer> =>
    lab.session.put('vm.restore', { source_url: `file://${directory}`, ...change });
  const folder = (name: string): string => {
    const path = join(lab.session.directory, name);
    mkdirSync(path);
    return path;
  };

  book.add(55, async () => {
    await lab.run();
    expectError(await snapshot('file:///tmp'), 500, [
      A,
      'The VM could not be snapshotted',
      'Cannot snapshot VM',
      'Failed to snapshot migratable component',
      'Trying to snapshot while VM is running',
    ]);
  });
  book.add(
    56,
    async () => {
      const send = (...rest: unknown[]): unknown[] => [
        A,
        'The VM could not be snapshotted',
        'Cannot send VM snapshot',
        'Failed to send migratable component snapshot',
        ...rest,
      ];
      await lab.run();
      await lab.session.put('vm.pause');
      expectError(await snapshot('/x'), 500, send('Could not extract path from URL: /x'));
      expectError(await snapshot('file:///nonexistent'), 500, send('Destination is not a directory: "/nonexistent"'));
      const directory = folder('snap');
      expect((await snapshot(`file://${directory}`)).status).toBe(204);
      for (const name of ['config.json', 'state.json']) JSON.parse(readFileSync(join(directory, name), 'utf8'));
      expect(statSync(join(directory, 'memory-ranges')).size).toBe(512 * MiB);
      expect((await lab.session.info()).state).toBe('Paused');
      expectTail(
        await snapshot(`file://${directory}`),
        500,
        'Error creating VM config snapshot file',
        'File exists (os error 17)',
      );
      expect((await lab.session.put('vm.resume')).status).toBe(204);
      await lab.session.event('vm/snapshotted');
    },
    { needs: ['state'] },
  );
  book.add(57, async () => {
    const directory = folder('empty');
    await lab.create();
    expectError(await restore(directory), 500, [A, 'The VM could not be restored', 'VM is already created']);
    await lab.session.put('vm.boot');
    expectError(await restore(directory), 500, [A, 'The VM could not be restored', 'VM is already created']);
    await lab.session.put('vm.delete');
    const nothing = async (): Promise<void> =>
      expect((await lab.session.get('vm.info')).status).toBe(lab.status('missing'));
    expectTail(
      await restore('/nonexistent'),
      500,
      'Cannot restore VM',
      'Failed to send migratable component snapshot',
      'Destination is not a directory: "/nonexistent"',
    );
    await nothing();
    const lacking = await restore(directory);
    expect(chain(lacking)).toEqual(
      expect.arrayContaining([
        'Failed to receive migratable component snapshot',
        expect.stringMatching(/^Error opening VM config snapshot file/),
      ]),
    );
    expect(lacking.status).toBe(500);
    await nothing();
    writeFileSync(join(directory, 'config.json'), '{');
    const broken = await restore(directory);
    expect(broken.status).toBe(500);
    expect(broken.text).toContain('EOF while parsing an object at line 1 column 1');
    await nothing();
    writeFileSync(join(directory, 'config.json'), '{}');
    expectTail(
      await restore(directory, { prefault: true, memory_restore_mode: 'OnDemand' }),
      lab.status('validation'),
      "'prefault' cannot be combined with 'memory_restore_mode=ondemand'",
    );
    await nothing();
    expect((await lab.session.put('vm.create', {})).status).toBe(204);
  });
  book.add(
    58,
    async () => {
      await lab.run({ serial: { mode: 'Pty' } });
      await lab.session.put('vm.pause');
      const directory = folder('snap');
      await snapshot(`file://${directory}`);
      type WithSerial = { serial: { file: string } };
      const before = (await lab.session.info()).config as unknown as WithSerial;
      await lab.session.put('vm.delete');
      expect((await restore(directory)).status).toBe(204);
      const after = await lab.session.info();
      expect(after.state).toBe('Paused');
      const { file } = (after.config as unknown as WithSerial).serial;
      expect(file).toMatch(/^\/dev\/pts\//);
      expect(existsSync(file)).toBe(true);
      expect({ ...after.config, serial: null }).toEqual({ ...before, serial: null });
      await lab.session.event('vm/restored');
      expect(lab.session.eventNames()).toContain('vm/restoring');
      await lab.session.put('vm.delete');
      expect((await restore(directory, { resume: true })).status).toBe(204);
      expect((await lab.session.info()).state).toBe('Running');
    },
    { needs: ['state'] },
  );
};
