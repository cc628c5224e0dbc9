import { CliFailure, exitCodes } from '../cli-failure';
import { pickProfile, type Profile, type ProfileStore } from './profile-store';
import { RestClient, type Call } from './rest-client';

/** The members of a login's answer that the client keeps. Times in seconds. */
export interface SessionTokens {
  accessToken: string;
  expiresIn: number;
  refreshToken: string;
}

/** Writes a login's tokens into a profile. */
export const keepTokens = (profile: Profile, tokens: SessionTokens): void => {
  profile.accessToken = tokens.accessToken;
  profile.accessExpiresAt = new Date(Date.now() + tokens.expiresIn * 1000).toISOString();
  profile.refreshToken = tokens.refreshToken;
  delete profile.apiToken;
};

/** Removes every credential from a profile. */
export const dropTokens = (profile: Profile): void => {
  delete profile.accessToken;
  delete profile.accessExpiresAt;
  delete profile.refreshToken;
  delete profile.apiToken;
};

/** The profile's identity on the wire: the bearer of each call, renewed when it runs out. */
export class ApiSession {
  readonly client: RestClient;

  constructor(
    private readonly store: ProfileStore,
    public profile: Profile,
  ) {
    this.client = new RestClient(profile);
  }

  /**
   * Runs a call with a credential; after a 401 once more with a renewed one. `make` is asked for the call each time,
   * since a stream can be sent only once.
   * @param marginMs a token that ends sooner is renewed first
   */
  async call<T>(make: () => Call, marginMs = 15_000): Promise<T> {
    const bearer = await this.bearer(marginMs);
    try {
      return await this.client.call<T>({ ...make(), bearer });
    } catch (error) {
      const refused = error instanceof CliFailure && error.exitCode === exitCodes.unauthenticated;
      if (!refused || this.profile.refreshToken === undefined) throw error;
      return this.client.call<T>({ ...make(), bearer: await this.renew(bearer) });
    }
  }

  /** A credential that is valid for `marginMs` more, as far as the client can tell. */
  async bearer(marginMs: number): Promise<string> {
    const { apiToken, accessToken, accessExpiresAt } = this.profile;
    if (apiToken !== undefined) return apiToken;
    if (accessToken === undefined) throw loggedOut(this.profile);
    if (Date.parse(accessExpiresAt ?? '') - Date.now() > marginMs) return accessToken;
    return this.renew(accessToken);
  }

  /** Under the file's lock: a refresh token may be used once, and several vcctl share it. */
  private async renew(used: string): Promise<string> {
    const failure = await this.store.update(async (file) => {
      const profile = pickProfile(file, this.profile.name);
      this.profile = profile;
      if (profile.accessToken !== undefined && profile.accessToken !== used) return null;
      if (profile.refreshToken === undefined) return loggedOut(profile);
      try {
        const tokens = await this.client.call<SessionTokens>({
          method: 'POST',
          path: '/login/refresh',
          body: { refreshToken: profile.refreshToken },
          idleMs: 30_000,
        });
        keepTokens(profile, tokens);
        return null;
      } catch (error) {
        if (!(error instanceof CliFailure) || error.exitCode !== exitCodes.unauthenticated) throw error;
        dropTokens(profile);
        return error;
      }
    });
    if (failure) throw failure;
    return this.profile.accessToken ?? used;
  }
}

const loggedOut = (profile: Profile): CliFailure =>
  new CliFailure(`The profile "${profile.name}" is logged out.`, {
    exitCode: exitCodes.unauthenticated,
    code: 'not_logged_in',
    hint: `Log in: vcctl login ${profile.url} --profile ${profile.name}`,
  });
