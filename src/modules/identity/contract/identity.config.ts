import { z } from 'zod';

/** `modules.identity` of the configuration. */
export const identityConfigSchema = z
  .strictObject({
    /** Life of an access token. A revoked session or disabled user is refused at once, whatever this says. */
    accessTokenSeconds: z.number().int().min(5).max(3600).default(900),
    /** A refresh token that was not used for so long is worthless. */
    refreshTokenDays: z.number().int().min(1).max(365).default(30),
    /** A session ends after so long, however often it was refreshed. */
    sessionDays: z.number().int().min(1).max(365).default(90),
    /** A new signing key is taken into use after so long. */
    signingKeyDays: z.number().int().min(1).max(365).default(30),
  })
  .prefault({});

export type IdentityConfig = z.output<typeof identityConfigSchema>;
