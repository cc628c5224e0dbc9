import type { InUseBy } from '../../../core/errors/in-use';
import type { Op } from '../../../core/db/rows/op';

/** Objects of one kind that a project owns: how many, and the first of them. */
export interface OwnedResources {
  count: number;
  first: InUseBy[];
}

/**
 * Port: every module with project-owned rows implements it (multi-injected), so that a project with resources is not
 * deleted under them.
 */
export abstract class ProjectUsage {
  /** What the project still owns, by kind, at most `limit` of each named. */
  abstract resources(op: Op, projectId: string, limit: number): Promise<OwnedResources[]>;
  /** Nobody owns anything of it any more, and it is being deleted: what it had of itself goes with it. */
  gone(_op: Op, _projectId: string): Promise<void> {
    return Promise.resolve();
  }
}

/** Port: projects for other modules. */
export abstract class Projects {
  /**
   * Keeps the project from being deleted until the caller's transaction ends; 404 when it is gone already.
   * Call it in the transaction that creates a project-owned row: a delete then waits, and sees the row.
   */
  abstract hold(op: Op, projectId: string): Promise<void>;
  /** Names by id; ids that are gone are absent. */
  abstract names(op: Op, ids: string[]): Promise<Map<string, string>>;
}
