import { injectable } from 'inversify';
import { Logging } from '../../telemetry/logging';

export interface RecordProblem {
  file: string;
  /** `newer`: of a newer build. `lost`: what it held is gone. */
  kind: 'newer' | 'unreadable' | 'lost';
  reason: string;
}

/** Kept at most; the count goes on. */
const bound = 1000;

/**
 * Files of this agent that it cannot read. None of them stops it: what they are about is left alone, and operators hear
 * of it by a condition of the host.
 */
@injectable()
export class RecordProblems {
  private readonly problems = new Map<string, RecordProblem>();

  constructor(private readonly logging: Logging) {}

  note(file: string, kind: RecordProblem['kind'], reason: string): void {
    const known = this.problems.get(file);
    if (known?.kind === kind && known.reason === reason) return;
    this.logging.for('records').error({ file, reason }, 'a file of this agent cannot be read; it is left alone');
    if (known || this.problems.size < bound) this.problems.set(file, { file, kind, reason });
  }

  /** The file is gone, or was written anew. */
  clear(file: string): void {
    this.problems.delete(file);
  }

  list(): RecordProblem[] {
    return [...this.problems.values()].sort((a, b) => (a.file < b.file ? -1 : 1));
  }
}
