import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { Logging } from '../../telemetry/logging';
import { liveTasksAnswer, liveTasksLimit } from '../reports/live-tasks';
import { HttpsManagementClient } from './https-management-client';
import type { VerbJournal } from './verb-journal';

/** A task that called so recently is most likely at work still. */
const quietMs = 30_000;

/**
 * Keeps the journal small: asks management which tasks are over and forgets what only they could have asked for. While
 * management is away nothing is forgotten, for it may have lost an answer that it will ask for again.
 */
@injectable()
export class JournalKeeper {
  private readonly log: Logger;

  constructor(
    private readonly client: HttpsManagementClient,
    logging: Logging,
  ) {
    this.log = logging.for('journal');
  }

  /** @param quiet tasks without a call for so long are asked about, in milliseconds */
  async round(journal: VerbJournal, quiet = quietMs): Promise<void> {
    await this.prune(journal);
    const tasks = journal.unconfirmed(quiet);
    for (let from = 0; from < tasks.length; from += liveTasksLimit) {
      const asked = tasks.slice(from, from + liveTasksLimit);
      const live = await this.liveTasks(asked);
      journal.confirm(
        asked.filter((task) => !live.has(task)),
        live.keys(),
      );
    }
  }

  /**
   * The present fence of each of the tasks that is not over; at most 1,000. Rejects when management does not answer.
   */
  async liveTasks(tasks: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return new Map(Object.entries(liveTasksAnswer.parse(await this.client.post('/tasks', { tasks })).live));
  }

  private async prune(journal: VerbJournal): Promise<void> {
    const { forgotten, unconfirmed } = await journal.prune();
    if (unconfirmed > 0)
      this.log.warn({ tasks: unconfirmed }, 'forgot results that management never confirmed: they were too old');
    if (forgotten > 0) this.log.debug({ tasks: forgotten, records: journal.count }, 'forgot tasks that are over');
  }
}
