/** Roles that hold in every project and on system nouns. */
export type SystemRole = 'admin';
/** Roles of a membership, from widest to narrowest. */
export const projectRoles = ['project-admin', 'member', 'viewer'] as const;
export type ProjectRole = (typeof projectRoles)[number];

export interface Membership {
  projectId: string;
  role: ProjectRole;
}

/** Who calls: built anew from the database on every request, so that a revoked membership holds at once. */
export interface Principal {
  kind: 'user';
  id: string;
  name: string;
  systemRoles: readonly SystemRole[];
  memberships: readonly Membership[];
  /** Identifies the session or API token for audit and for closing live streams on revoke. */
  sessionId: string;
  via: 'session' | 'api-token';
  /** Null: everything its roles allow. Otherwise the API token's own list of permissions, which only narrows. */
  tokenScopes: readonly string[] | null;
}
