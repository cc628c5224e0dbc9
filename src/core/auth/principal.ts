/** Roles that hold in every project and on system nouns. */
type SystemRole = 'admin';
/** Roles of a membership, from widest to narrowest. */
export const projectRoles = ['project-admin', 'member', 'viewer'] as const;
export type ProjectRole = (typeof projectRoles)[number];

export interface Membership {
  projectId: string;
  role: ProjectRole;
}

/** What a principal came by, without its secret: enough to ask later whether it still holds. */
export interface Credential {
  via: 'session' | 'api-token';
  /** The session's or the API token's. */
  id: string;
  userId: string;
  /**
   * End of the access token that was shown, in seconds since 1970 of the database's clock; absent where the session
   * itself is the credential.
   */
  expiresAt?: number | undefined;
}

/**
 * Who calls, as the database has it: nothing of it comes from the token, and what changes holds at once. Many requests
 * share one: it does not change.
 */
export interface Principal {
  kind: 'user';
  id: string;
  name: string;
  systemRoles: readonly SystemRole[];
  memberships: readonly Membership[];
  /** Identifies the session or API token for audit and for closing live streams on revoke. */
  sessionId: string;
  via: 'session' | 'api-token';
  /** End of the access token that was shown, in seconds since 1970; absent for API tokens. */
  expiresAt?: number | undefined;
  /** Null: everything its roles allow. Otherwise the API token's own list of permissions, which only narrows. */
  tokenScopes: readonly string[] | null;
}

/** The credential that the principal came by. */
export const credentialOf = ({ via, sessionId, id, expiresAt }: Principal): Credential => ({
  via,
  id: sessionId,
  userId: id,
  expiresAt,
});

/** The same without the end of its access token: for what a session holds, whichever of its tokens opened it. */
export const sessionOf = ({ via, sessionId, id }: Principal): Credential => ({ via, id: sessionId, userId: id });
