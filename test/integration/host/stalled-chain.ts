import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  processStartTime,
  signalProcess,
  type ProcessIdentity,
} from '../../../src/core/host/processes/process-identity';
import { waitFor } from '../../support/wait-for';

/** The first program of a chain that goes into a network namespace, in a place of its own: it hangs for ever. */
export class StalledChain {
  readonly env: NodeJS.ProcessEnv;
  private readonly note: string;

  constructor(directory: string) {
    const programs = join(directory, 'stalled');
    this.note = join(programs, 'pid');
    mkdirSync(programs);
    execFileSync('mkfifo', [join(programs, 'never')]);
    const script = `#!/bin/sh\necho $$ > ${this.note}.new; mv ${this.note}.new ${this.note}; read -r word < ${programs}/never\n`;
    writeFileSync(join(programs, 'ip'), script, { mode: 0o755 });
    this.env = { ...process.env, PATH: `${programs}:${process.env['PATH'] ?? ''}` };
  }

  /** The chain's process, once it hangs. */
  async begun(): Promise<ProcessIdentity> {
    await waitFor('the chain', () => existsSync(this.note), 20_000);
    return this.process();
  }

  end(): void {
    if (existsSync(this.note)) signalProcess(this.process(), 'SIGKILL');
  }

  private process(): ProcessIdentity {
    const pid = Number(readFileSync(this.note, 'utf8'));
    return { pid, startTime: processStartTime(pid) ?? '' };
  }
}
