import type { NodeRevisions } from '../verbs/revisions';

/** Where management reaches a node's agent. */
export interface NodeEndpoint {
  address: string;
  port: number;
}

export interface EnrolmentRequest {
  /** The part of the token behind the prefix that the gateway does not read: `<id>.<secret>`. */
  ticket: string;
  /** PEM. */
  csr: string;
  name: string;
  address: string;
  port: number;
}

export interface Enrolled {
  hostId: string;
  /** PEM. */
  certificate: string;
  root: string;
}

/** A sign of life. `boot` and `seq` order the beats of one agent run, so that a late one changes nothing. */
export interface Beat {
  boot: string;
  seq: number;
  /** The node's clock when it was sent, milliseconds since the epoch. */
  time: number;
  endpoint: NodeEndpoint;
  agentVersion: string;
}

/** What management knows of a node's agent before it asks anything of it. */
export interface NodeAbilities {
  /** The host's name. */
  name: string;
  /** Release of its agent; empty before its first heartbeat. */
  release: string;
  /** Null for an agent from before revisions were told, and before the first heartbeat. */
  revisions: NodeRevisions | null;
}

/** `accepted`: newer than any before. `stale`: overtaken. `unknown`: there is no such host. */
export type BeatOutcome = 'accepted' | 'stale' | 'unknown';

/** Port that `modules/host` implements (management half): which nodes there are. */
export abstract class NodeRegistry {
  /**
   * Trades a one-time ticket and a signing request for a host and its certificate. Throws `Problem`: 401
   * `token_unknown`, `token_expired`, `token_used`; 409 `name_taken`; 422 `invalid_csr`.
   */
  abstract enroll(request: EnrolmentRequest): Promise<Enrolled>;
  /** A new certificate for a new key of the same host. */
  abstract renew(hostId: string, csr: string): Promise<Enrolled>;
  /** One cheap statement when nothing but the time changed. */
  abstract heartbeat(hostId: string, beat: Beat): Promise<BeatOutcome>;
  /** Null for a host that is not there. May be a few seconds old. */
  abstract endpoint(hostId: string): Promise<NodeEndpoint | null>;
  /**
   * What the node's agent understands, as it reported last. Null for a host that is not there. May be a few seconds old
   * unless `fresh`.
   */
  abstract abilities(hostId: string, fresh: boolean): Promise<NodeAbilities | null>;
  /** What was read of it last, however long ago. */
  abstract known(hostId: string): NodeAbilities | undefined;
  /** A token for the node half of this very process (`vc-stack all`). */
  abstract localToken(): Promise<string>;
}
