import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { importPKCS8, SignJWT } from 'jose';
import { MasterKey } from '../../src/core/crypto/master-key';
import type { ApiClient } from '../support/api-client';
import { passwordOf, type ManagementStack } from './management-stack';

/** A column of the access table: a credential, and who holds it. */
export interface Identity {
  column: string;
  /** `Authorization` without `Bearer `; undefined for no header at all. */
  bearer: string | undefined;
  /** The user to log in again with, where a request ends the session. */
  user: string | undefined;
}

const apiToken = async (owner: ApiClient, scopes: string[] | null): Promise<string> =>
  (await owner.ok('POST', '/api-tokens', { name: randomUUID().slice(0, 8) + 't', scopes })).token;

/** A token of the installation's own key, for whatever purpose and time. */
const signed = async (
  stack: ManagementStack,
  session: string,
  change: { typ?: string; audience?: string; lifeSeconds?: number },
): Promise<string> => {
  const [, payload = ''] = session.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { sub: string; sid: string };
  const [row] = await stack.db.database.query<{ id: string; private_sealed: string }>(
    'SELECT id, private_sealed FROM signing_key',
  );
  if (!row) throw new Error('there is no signing key');
  const masterKey = await MasterKey.load(join(stack.directory, 'state', 'management'));
  const key = await importPKCS8(masterKey.open(row.private_sealed, `signing-key/${row.id}`).toString(), 'ES256');
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({ sid: claims.sid })
    .setProtectedHeader({ alg: 'ES256', kid: row.id, typ: change.typ ?? 'at+jwt' })
    .setIssuer('vc-stack')
    .setAudience(change.audience ?? 'vc-stack/api')
    .setSubject(claims.sub)
    .setIssuedAt(now - 3600)
    .setExpirationTime(now + (change.lifeSeconds ?? 600))
    .sign(key);
};

/**
 * Everybody who may come, in the order of the table's columns. The projects `red` and `blue` are made here; the objects
 * are red's.
 */
export const makeIdentities = async (stack: ManagementStack): Promise<Identity[]> => {
  for (const name of ['red', 'blue']) await stack.admin.ok('POST', '/projects', { name });
  const users = {
    outsider: await stack.user('outsider', { blue: 'project-admin' }),
    viewer: await stack.user('viewer', { red: 'viewer' }),
    member: await stack.user('member', { red: 'member' }),
    lead: await stack.user('lead', { red: 'project-admin' }),
    root: await stack.user('root', {}, true),
    gone: await stack.user('gone', { red: 'member' }),
    left: await stack.user('left', { red: 'member' }),
  };
  const ofDisabled = await apiToken(users.gone, null);
  await stack.admin.ok('PATCH', '/users/gone', { enabled: false });
  await users.left.ok('POST', '/logout');
  const { refreshToken } = await stack
    .client()
    .ok('POST', '/login', { name: 'member', password: passwordOf('member') });
  const nobody = (column: string, bearer: string | undefined): Identity => ({ column, bearer, user: undefined });
  const session = (column: string, name: keyof typeof users): Identity => ({
    column,
    bearer: users[name].token,
    user: name,
  });
  const token = async (column: string, name: keyof typeof users, scopes: string[] | null): Promise<Identity> =>
    nobody(column, await apiToken(users[name], scopes));
  return [
    nobody('none', undefined),
    nobody('garbage', 'vcs_garbage'),
    nobody('expired', await signed(stack, users.member.token, { lifeSeconds: -60 })),
    nobody('other audience', await signed(stack, users.member.token, { audience: 'vc-stack/console' })),
    nobody('other type', await signed(stack, users.member.token, { typ: 'mfa+jwt' })),
    nobody('refresh token', refreshToken),
    nobody('logged out', users.left.token),
    nobody('disabled', users.gone.token),
    nobody('disabled, token', ofDisabled),
    session('outsider', 'outsider'),
    session('viewer', 'viewer'),
    session('member', 'member'),
    session('project-admin', 'lead'),
    session('admin', 'root'),
    await token('member, token', 'member', null),
    await token('member, `*:*`', 'member', ['*:*']),
    await token('member, `*:read`', 'member', ['*:read']),
    await token('member, `instance:*`', 'member', ['instance:*']),
    await token('member, `network:create`', 'member', ['network:create']),
    await token('admin, `host:read`', 'root', ['host:read']),
    await token('viewer, `*:*`', 'viewer', ['*:*']),
  ];
};
