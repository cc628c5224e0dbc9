/** What a scenario may use of the cloud that it runs on. Only tests have one. */
export interface ScenarioCloud {
  api: {
    /** The answer's body; throws for a refusal. `path` below `/api/v1`. */
    ok<T>(method: string, path: string, body?: unknown): Promise<T>;
    call<T>(method: string, path: string, body?: unknown): Promise<{ status: number; body: T }>;
  };
  /** A name that no other thing has. */
  name(kind: string): string;
  /** The final state of a task. */
  settled(taskId: string): Promise<string>;
  /** One statement of the test itself. */
  query<R extends Record<string, unknown>>(sql: string, params?: unknown[]): Promise<R[]>;
  /** Where disks are downloaded from: every path below is another one. */
  readonly url: string;
  /** Where management keeps its images. */
  imagePath(...parts: string[]): string;
  /** Where management keeps its files. */
  statePath(...parts: string[]): string;
  /** Where the host keeps its files. */
  hostPath(...parts: string[]): string;
}

/** What a task is about. */
export interface ScenarioSubject {
  kind: string;
  id: string;
  name: string;
  /** Ids, when it is about several; the first one's is `id`. */
  several?: readonly string[];
}

/**
 * How one workflow is brought about: the cloud before it, and the request that starts it. Everything else is generated:
 * the tests of chaos disturb it at each of its boundaries.
 */
export interface Scenario {
  /** Returns what the task will be about; with an empty id when the request itself makes it. */
  prepare(cloud: ScenarioCloud): Promise<ScenarioSubject>;
  /** Returns the task, and the subject with its id. */
  start(cloud: ScenarioCloud, subject: ScenarioSubject): Promise<{ taskId: string; subject: ScenarioSubject }>;
  /**
   * What there is of the subject, without ids, names and times: the same for every run that ended the same way. What
   * there is of an instance, where it is left out.
   */
  sight?(cloud: ScenarioCloud, subject: ScenarioSubject): Promise<Record<string, unknown>>;
  /** Takes away what is left, whatever came of it. */
  cleanUp(cloud: ScenarioCloud, subject: ScenarioSubject): Promise<void>;
}

/** By workflow type. */
export type Scenarios = Readonly<Record<string, Scenario>>;
