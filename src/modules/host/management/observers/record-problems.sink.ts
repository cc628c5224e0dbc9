import { injectable } from 'inversify';
import type { Op } from '../../../../core/db/rows/op';
import { ObservedSink } from '../../../../core/m2m/reports/observed';
import { observedRecordProblems, type ObservedRecordProblems } from '../../contract/record-problems.observed';
import { HostConditions } from '../conditions/host-conditions.service';
import type { ConditionFact } from '../hosts/host-state';

/** Tells operators of files that a host's agent cannot read. */
@injectable()
export class RecordProblemsSink extends ObservedSink<ObservedRecordProblems> {
  readonly section = 'records';
  readonly schema = observedRecordProblems;

  constructor(private readonly conditions: HostConditions) {
    super();
  }

  accept(op: Op, hostId: string, data: ObservedRecordProblems): Promise<void> {
    return this.conditions.note(op, hostId, recordsFact(data));
  }
}

const shown = 5;

const recordsFact = ({ count, problems }: ObservedRecordProblems): ConditionFact => {
  if (count === 0)
    return { type: 'Records', status: 'true', reason: 'Readable', message: 'its agent can read all of its files' };
  const named = problems.slice(0, shown).map(({ file, reason }) => `${file}: ${reason}`);
  const more = count > named.length ? `; and ${count - named.length} more` : '';
  return {
    type: 'Records',
    status: 'false',
    reason: problems.every(({ kind }) => kind === 'newer') ? 'OfNewerAgent' : 'Unreadable',
    message: `its agent cannot read ${count} of its files and leaves alone what they are about. ${named.join('; ')}${more}`,
  };
};
