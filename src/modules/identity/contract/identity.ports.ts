import type { Op } from '../../../core/db/op';

export interface ResourceCount {
  /** Noun in the singular, as in REST paths. */
  kind: string;
  count: number;
}

/** Port: every module with project-owned rows implements it (multi-injected), so that a project with resources is not deleted under them. */
export abstract class ProjectUsage {
  /** Counts of what the project still owns; kinds with 0 may be left out. */
  abstract resources(op: Op, projectId: string): Promise<ResourceCount[]>;
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
