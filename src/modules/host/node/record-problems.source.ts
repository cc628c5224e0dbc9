import { injectable } from 'inversify';
import { RecordProblems } from '../../../core/host/records/record-problems';
import { ObservedSource } from '../../../core/m2m/reports/observed';
import type { ObservedRecordProblems } from '../contract/record-problems.observed';

@injectable()
export class RecordProblemsSource extends ObservedSource {
  readonly section = 'records';

  constructor(private readonly problems: RecordProblems) {
    super();
  }

  override collect(): Promise<ObservedRecordProblems> {
    const all = this.problems.list();
    const short = (text: string): string => text.slice(0, 1000);
    return Promise.resolve({
      count: all.length,
      problems: all.slice(0, 20).map(({ file, kind, reason }) => ({ file: short(file), kind, reason: short(reason) })),
    });
  }
}
