import type { RemoteCall, RemoteUndoCall } from '../definition/definition';
import type { StepWrite } from '../storage/task-row';

export type Call =
  | RemoteCall<unknown, Record<string, unknown>, unknown, unknown>
  | RemoteUndoCall<unknown, Record<string, unknown>, unknown, unknown>;

/** A call to a host, and how it is stored before it is sent. */
export interface AboutToCall {
  call: Call;
  write: StepWrite & { hostId: string };
}

/** It is stored as begun; this is what it is sent with. */
export interface IntendedCall extends AboutToCall {
  args: unknown;
}
