import { z } from 'zod';
import { projectRoles } from '../../../core/auth/principal';
import * as field from '../../../core/http/routes/fields';

export const userName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, { error: 'lower-case letters, digits, dot, dash and underscore; at most 63' })
  .refine((s) => !field.looksLikeId(s), {
    error: 'must not have the form of an id',
    params: { code: 'looks_like_id' },
  });
const password = z.string().min(12).max(256);

export const loginRequest = z.strictObject({ name: z.string().min(1).max(255), password: z.string().min(1).max(1024) });
/** Times in seconds. The refresh token may be used once; its reuse revokes the whole session. */
export const tokens = z
  .object({
    accessToken: z.string(),
    expiresIn: z.number().int(),
    refreshToken: z.string(),
    refreshExpiresIn: z.number().int(),
  })
  .meta({ id: 'Tokens' });
export const refreshRequest = z.strictObject({ refreshToken: z.string().min(1).max(4096) });

export const user = z
  .object({
    id: field.id,
    name: z.string(),
    admin: z.boolean(),
    enabled: z.boolean(),
    createdAt: field.timestamp,
  })
  .meta({ id: 'User' });
export const createUser = z.strictObject({ name: userName, password, admin: z.boolean().default(false) });
export const updateUser = z.strictObject({
  password: password.optional(),
  admin: z.boolean().optional(),
  enabled: z.boolean().optional(),
});
/** `revokeApiTokens`: the caller's API tokens end with the old password. */
export const changePassword = z.strictObject({
  current: z.string().min(1).max(1024),
  password,
  revokeApiTokens: z.boolean().default(false),
});

/** An open session. `remoteAddress` is where the login came from; `lastUsedAt` when it last fetched an access token. */
export const session = z
  .object({
    id: field.id,
    remoteAddress: z.string().nullable(),
    createdAt: field.timestamp,
    lastUsedAt: field.timestamp,
    expiresAt: field.timestamp,
  })
  .meta({ id: 'Session' });

export const whoami = z
  .object({
    user,
    via: z.enum(['session', 'api-token']),
    projects: z.array(z.object({ id: field.id, name: z.string(), role: z.enum([...projectRoles, 'admin']) })),
  })
  .meta({ id: 'Whoami' });

export const project = z
  .object({
    id: field.id,
    name: z.string(),
    description: z.string(),
    createdAt: field.timestamp,
  })
  .meta({ id: 'Project' });
export const createProject = z.strictObject({ name: field.displayName, description: field.description.default('') });
export const updateProject = z.strictObject({
  name: field.displayName.optional(),
  description: field.description.optional(),
});

export const member = z
  .object({ userId: field.id, userName: z.string(), role: z.enum(projectRoles) })
  .meta({ id: 'Member' });
export const setMember = z.strictObject({ role: z.enum(projectRoles) });

export const apiToken = z
  .object({
    id: field.id,
    name: z.string(),
    scopes: z.array(z.string()).nullable(),
    createdAt: field.timestamp,
    expiresAt: field.timestamp.nullable(),
    lastUsedAt: field.timestamp.nullable(),
  })
  .meta({ id: 'ApiToken' });
export const createApiToken = z.strictObject({
  name: field.displayName,
  /** Permissions (`instance:read`, `volume:*`) that narrow the user's own; null for all of them. */
  scopes: z
    .array(z.string().regex(/^(\*|[a-z-]+):(\*|[a-z-]+)$/))
    .max(100)
    .nullable()
    .default(null),
  expiresInDays: z.number().int().min(1).max(3650).nullable().default(null),
});
/** The secret is shown once. */
export const createdApiToken = apiToken.extend({ token: z.string() }).meta({ id: 'CreatedApiToken' });

export type Tokens = z.infer<typeof tokens>;
export type Session = z.infer<typeof session>;
export type User = z.infer<typeof user>;
export type Whoami = z.infer<typeof whoami>;
export type Project = z.infer<typeof project>;
export type Member = z.infer<typeof member>;
export type ApiToken = z.infer<typeof apiToken>;
