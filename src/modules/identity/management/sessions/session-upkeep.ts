import { injectable } from 'inversify';
import { Database } from '../../../../core/db/database';
import { PeriodicWorks, type PeriodicWork } from '../../../../core/periodic/periodic-work';
import { SessionRepository } from './session.repository';

/** Clears away sessions and refresh tokens that have expired. */
@injectable()
export class SessionUpkeep extends PeriodicWorks {
  constructor(
    private readonly database: Database,
    private readonly sessions: SessionRepository,
  ) {
    super();
  }

  override periodicWork(): PeriodicWork[] {
    const run = (): Promise<void> => this.sessions.prune(this.database.op);
    return [{ name: 'identity.prune-sessions', everyMs: 3_600_000, scope: 'cluster', deadlineMs: 300_000, run }];
  }
}
