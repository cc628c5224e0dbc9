import type { Credential, Principal } from './principal';

export interface ProjectRef {
  id: string;
  name: string;
}

/** Port that `modules/identity` implements: who is behind a credential, and which project a name means. */
export abstract class Authenticator {
  /**
   * The principal of a bearer credential (access token or API token); null when it is malformed, expired, revoked or
   * unknown.
   */
  abstract authenticate(bearer: string): Promise<Principal | null>;
  /**
   * The principals behind credentials that were accepted before, as of now and in the same order; null where the
   * credential has ended (logged out, expired, revoked, its user disabled or gone). One look for any number of them:
   * long-lived channels are judged by it.
   */
  abstract current(credentials: readonly Credential[]): Promise<(Principal | null)[]>;
  /**
   * The project that `ref` (id or name) means for this caller, or the caller's only project when `ref` is undefined.
   * Throws 404 `not_found` when it is not visible, 400 `project_required` when none is given and several are possible.
   */
  abstract resolveProject(principal: Principal, ref: string | undefined): Promise<ProjectRef>;
}
