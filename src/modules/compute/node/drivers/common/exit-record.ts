import { rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import { z } from 'zod';
import { formatRecord, parseRecord, type RecordForm } from '../../../../../core/host/records/record-form';
import { poweredOff, vmmExit, type VmExit } from '../vmm-exit';

const exitForm: RecordForm<VmExit> = {
  name: 'record of an exit',
  version: 1,
  schema: vmmExit,
  upgrades: {},
};
const buttonForm: RecordForm<{ pressedAt: number }> = {
  name: 'record of a power button',
  version: 1,
  schema: z.object({ pressedAt: z.number() }),
  upgrades: {},
};

/**
 * A guest that powers off this long after its power button was pressed was stopped by us; later, it was its own idea.
 * Milliseconds; the longest grace period.
 */
const buttonWindowMs = 600_000;

/** Null when there is none that can be read: how it ended is then not known. */
const read = async <T>(path: string, form: RecordForm<T>): Promise<T | null> => {
  const text = await readFile(path, 'utf8').catch(() => null);
  if (text === null) return null;
  const reading = parseRecord(form, text);
  return reading.kind === 'read' ? reading.value : null;
};

/**
 * Why a VM ended, kept beside its sockets: what one agent learned must be known to the next. The first writer wins, so
 * a kill that only collects a guest that had already powered off does not change the cause.
 */
export class ExitRecord {
  private readonly exitFile: string;
  private readonly buttonFile: string;

  constructor(runDir: string) {
    this.exitFile = join(runDir, 'exit.json');
    this.buttonFile = join(runDir, 'power-button.json');
  }

  /** Forgets what an earlier run of the same instance left. */
  clear(): void {
    for (const file of [this.exitFile, this.buttonFile]) rmSync(file, { force: true });
  }

  read(): Promise<VmExit | null> {
    return read(this.exitFile, exitForm);
  }

  /** Records the exit unless one is recorded already, and returns the recorded one. */
  async settle(exit: VmExit): Promise<VmExit> {
    const known = await this.read();
    if (known) return known;
    await writeFileAtomic(this.exitFile, formatRecord(exitForm, exit), { mode: 0o600 }).catch(
      (error: NodeJS.ErrnoException) => {
        // The folder is gone when the instance was removed meanwhile: there is no next agent to tell.
        if (error.code !== 'ENOENT') throw error;
      },
    );
    return exit;
  }

  async buttonPressed(): Promise<void> {
    await writeFileAtomic(this.buttonFile, formatRecord(buttonForm, { pressedAt: Date.now() }), { mode: 0o600 });
  }

  /** A power-off that came from inside: the guest's own, or its answer to the button. */
  async settleGuestPowerOff(): Promise<VmExit> {
    const button = await read(this.buttonFile, buttonForm);
    const asked = button !== null && Date.now() - button.pressedAt <= buttonWindowMs;
    return this.settle(poweredOff(asked));
  }
}
