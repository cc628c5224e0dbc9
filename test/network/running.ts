import type { ChildProcess } from 'node:child_process';
import { eventually } from '../support/eventually';

/** A program that has not ended yet. */
export class Running {
  private output = '';

  constructor(private readonly child: ChildProcess) {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.output += text));
  }

  /** Resolves when it has said that. */
  async until(what: RegExp): Promise<void> {
    await eventually(`${String(what)} in what a program says`, () => what.test(this.output));
  }

  /** So far. */
  get said(): string {
    return this.output;
  }

  get runs(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Ends it and gives all that it said. */
  async end(signal: NodeJS.Signals = 'SIGINT'): Promise<string> {
    await ended(this.child, signal);
    return this.output;
  }
}

/** Resolves when the process is gone and its output is read. */
export const ended = async (child: ChildProcess, signal: NodeJS.Signals): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((done) => child.once('close', done));
  child.kill(signal);
  await gone;
};
