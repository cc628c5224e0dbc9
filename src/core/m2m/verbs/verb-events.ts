/**
 * Port that the workflow engine implements (management half): what nodes report of long verbs. Lost reports are made up
 * for by polling.
 */
export abstract class VerbEvents {
  /** The call under this key has ended, well or not: ask `NodeCaller.outcome`. May come more than once. */
  abstract onVerbDone(hostId: string, key: string): Promise<void>;
  /** 0 to 100. */
  abstract onProgress(hostId: string, key: string, percent: number, message: string): Promise<void>;
}
