import { injectable } from 'inversify';
import { Database } from '../../db/database';
import { DefinitionRegistry, type AnyDefinition, type RegistrableDefinition } from '../definition/definition-registry';
import { TaskWaiters } from '../request/task-waiters';
import { wakeChannel, WakeUps } from '../request/wake-ups';
import { LocalWork } from '../run/local-work';
import { Workload } from '../run/workload';
import { TaskRequestRepository } from '../storage/task-request.repository';
import { WorkflowSettings } from '../workflow-settings';
import { TaskPump } from './task-pump';

/** Runs workflows: see docs/workflows.md. One per process; several processes share the work of one database. */
@injectable()
export class WorkflowEngine {
  private unlisten: (() => Promise<void>) | undefined;

  constructor(
    private readonly registry: DefinitionRegistry,
    private readonly pump: TaskPump,
    private readonly requests: TaskRequestRepository,
    private readonly wakeUps: WakeUps,
    private readonly waiters: TaskWaiters,
    private readonly workload: Workload,
    private readonly localWork: LocalWork,
    private readonly settings: WorkflowSettings,
    private readonly database: Database,
  ) {}

  /**
   * Makes definitions known, before `start()`. Throws when one could not be undone: a step has neither an undo nor a
   * stated reason for none.
   */
  register(definitions: readonly RegistrableDefinition[]): void {
    for (const definition of definitions) this.registry.register(definition as unknown as AnyDefinition);
  }

  /** Begins to run tasks. Refuses while a live task has a type or version that is not registered. */
  async start(): Promise<void> {
    const known = new Set(this.registry.keys());
    const unknown = (await this.requests.liveKeys()).filter((key) => !known.has(key));
    if (unknown.length > 0) {
      throw new Error(
        `the database has live tasks of workflows that this version does not know: ${unknown.join(', ')}. Run the version that started them until they have ended.`,
      );
    }
    this.wakeUps.attach(this.pump);
    this.unlisten = await this.database.listen(wakeChannel, () => this.pump.kick());
    this.workload.stopping = false;
    this.pump.start();
  }

  /** Ends claiming, lets steps under way finish for a moment, and gives the tasks back for others to go on at once. */
  async stop(): Promise<void> {
    this.workload.stopping = true;
    this.localWork.interrupt();
    await this.unlisten?.();
    await this.pump.stop(this.settings.stopGraceMs);
    await this.wakeUps.stop();
    await this.waiters.close();
  }
}
