import type { Op } from '../db/rows/op';

/** What changed, for live clients. Names: `<noun>.<created|updated|deleted>`. */
export interface LiveEvent {
  type: string;
  /** Null: of no project; only system admins see it, unless everyone does. */
  projectId: string | null;
  /** True for what every user may read, whatever project it belongs to. */
  everyone?: boolean;
  subject: { kind: string; id: string };
  /** The object as REST presents it, or a part of it. No secrets: viewers see it. */
  data: Record<string, unknown>;
}

/** Events are rows of the transaction that made the change, so none is lost and none is sent for a rollback. */
export abstract class Outbox {
  abstract publish(op: Op, event: LiveEvent): Promise<void>;
}
