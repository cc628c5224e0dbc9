import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SignJWT, generateKeyPair } from 'jose';
import { IdentityAuthenticator } from '../../../src/modules/identity/management/authority/identity-authenticator';
import { IdentityLifecycle } from '../../../src/modules/identity/management/identity-lifecycle.service';
import { SigningKeys } from '../../../src/modules/identity/management/sessions/signing-keys.service';
import { IdentityFixture, refusal } from './identity-fixture';

jest.setTimeout(60_000);

describe('first boot', () => {
  let f: IdentityFixture;
  beforeAll(async () => {
    f = await IdentityFixture.start();
  });
  afterAll(() => f.close());

  it('makes one admin and one project, by whichever process is first, and keeps the password in a private file only', async () => {
    const processes = [f.process(), f.process(), f.process()].map((c) => c.get(IdentityLifecycle));
    await Promise.all(processes.map((p) => p.start()));
    await Promise.all(processes.map((p) => p.stop()));
    const file = join(f.stateDir, 'management', 'admin-password');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const password = (await readFile(file, 'utf8')).trim();
    const principal = await f.principal((await f.sessions.login('admin', password, '127.0.0.1')).accessToken);
    expect(principal.systemRoles).toEqual(['admin']);
    const me = await f.users.whoami(f.db.database.op, principal);
    expect(me.projects).toEqual([{ id: expect.any(String), name: 'default', role: 'project-admin' }]);
    expect(f.logs.join('')).not.toContain(password);
    await f.lifecycle.start();
    await f.lifecycle.stop();
    expect((await readFile(file, 'utf8')).trim()).toBe(password);
    expect((await f.users.list(f.db.database.op, { limit: 10 })).items).toHaveLength(1);
  });
});

describe('sessions', () => {
  let f: IdentityFixture;
  beforeAll(async () => {
    f = await IdentityFixture.start();
    await f.user('root', { admin: true });
  });
  afterAll(() => f.close());

  it('gives the same answer for unknown names, wrong passwords and disabled users', async () => {
    await f.user('mallory');
    await f.tx((op) => f.users.update(op, 'mallory', { enabled: false }));
    const wanted = { status: 401, code: 'invalid_credentials', path: undefined };
    for (const [name, password] of [
      ['root', 'wrong'],
      ['nobody', 'wrong'],
      ['mallory', 'password of mallory'],
      ['\u0000', 'x'],
      ['Root', 'password of root'],
      [`' OR 1=1 --`, 'x'],
    ] as const) {
      expect(await refusal(f.sessions.login(name, password, '127.0.0.1'))).toEqual(wanted);
    }
    expect(f.logs.join('')).not.toContain('password of');
  });

  it('stops guessing: the eleventh attempt on a name from one address waits, other addresses do not', async () => {
    await f.user('guessed');
    for (let attempt = 0; attempt < 10; attempt += 1)
      expect(await refusal(f.sessions.login('guessed', 'wrong', '192.0.2.1'))).toMatchObject({ status: 401 });
    expect(await refusal(f.sessions.login('guessed', 'password of guessed', '192.0.2.1'))).toMatchObject({
      status: 429,
      code: 'too_many_attempts',
    });
    expect((await f.sessions.login('guessed', 'password of guessed', '192.0.2.2')).accessToken).not.toBe('');
  });

  it('knows its tokens and nothing else', async () => {
    const { accessToken, refreshToken, principal } = await f.user('alice');
    expect(principal).toMatchObject({
      name: 'alice',
      systemRoles: [],
      memberships: [],
      via: 'session',
      tokenScopes: null,
    });
    const [header, payload, signature] = accessToken.split('.') as [string, string, string];
    const foreign = await generateKeyPair('ES256');
    const signed = (claims: Record<string, unknown>, head: { alg: string; typ?: string; kid?: string }) =>
      new SignJWT(claims)
        .setProtectedHeader(head)
        .setIssuer('vc-stack')
        .setAudience('vc-stack/api')
        .setSubject(principal.id)
        .setExpirationTime('5m')
        .sign(foreign.privateKey);
    const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid: string };
    const none = `${Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')}.${payload}.`;
    const bad = [
      '',
      'test',
      '\u0000',
      '..',
      'a.b.c',
      'x'.repeat(1_000_000),
      `${header}.${payload}.${signature.slice(0, -4)}AAAA`,
      `${header}.${payload}.`,
      `${header}.${Buffer.from('{"sub":"x"}').toString('base64url')}.${signature}`,
      none,
      await signed({ sid: principal.sessionId }, { alg: 'ES256', typ: 'at+jwt', kid }),
      await signed({ sid: principal.sessionId }, { alg: 'ES256', typ: 'at+jwt', kid: 'no-such' }),
      await signed({ sid: principal.sessionId }, { alg: 'ES256', typ: 'at+jwt' }),
      refreshToken,
      'vcs_',
      `vcs_${'0'.repeat(32)}_${'A'.repeat(43)}`,
    ];
    for (const token of bad) expect(await f.authenticator.authenticate(token)).toBeNull();
  });

  it('accepts a token for its own purpose only', async () => {
    const { principal } = await f.user('purpose');
    const { id, key } = await f.process().get(SigningKeys).current();
    const make = (typ: string, audience: string, exp: string) =>
      new SignJWT({ sid: principal.sessionId })
        .setProtectedHeader({ alg: 'ES256', kid: id, typ })
        .setIssuer('vc-stack')
        .setAudience(audience)
        .setSubject(principal.id)
        .setIssuedAt()
        .setExpirationTime(exp)
        .sign(key);
    expect(await f.authenticator.authenticate(await make('at+jwt', 'vc-stack/api', '5m'))).not.toBeNull();
    expect(await f.authenticator.authenticate(await make('mfa+jwt', 'vc-stack/api', '5m'))).toBeNull();
    expect(await f.authenticator.authenticate(await make('at+jwt', 'vc-stack/console', '5m'))).toBeNull();
    expect(await f.authenticator.authenticate(await make('at+jwt', 'vc-stack/api', '-1m'))).toBeNull();
  });

  it('is understood by every process on the database', async () => {
    const { accessToken } = await f.user('bob');
    expect(await f.process().get(IdentityAuthenticator).authenticate(accessToken)).toMatchObject({ name: 'bob' });
    const keys = await f.db.database.query<{ private_sealed: string }>('SELECT private_sealed FROM signing_key');
    expect(keys).toHaveLength(1);
    expect(keys[0]?.private_sealed).toMatch(/^v1\./);
  });

  it('rotates refresh tokens, and ends the session when one is used twice', async () => {
    const first = await f.user('carol');
    const second = await f.sessions.refresh(first.refreshToken, '127.0.0.1');
    expect(second.refreshToken).not.toBe(first.refreshToken);
    expect(second.refreshExpiresIn).toBeGreaterThan(29 * 86_400);
    expect(await f.authenticator.authenticate(second.accessToken)).not.toBeNull();
    expect(await refusal(f.sessions.refresh(first.refreshToken, '127.0.0.1'))).toMatchObject({
      status: 401,
      code: 'refresh_token_reused',
    });
    expect(await f.authenticator.authenticate(second.accessToken)).toBeNull();
    expect(await refusal(f.sessions.refresh(second.refreshToken, '127.0.0.1'))).toMatchObject({
      status: 401,
      code: 'invalid_refresh_token',
    });
    for (const bad of [
      '',
      'x',
      first.accessToken,
      `vcr_${'0'.repeat(32)}_${'A'.repeat(43)}`,
      `${second.refreshToken.slice(0, -2)}AA`,
    ]) {
      expect(await refusal(f.sessions.refresh(bad, '127.0.0.1'))).toMatchObject({
        status: 401,
        code: 'invalid_refresh_token',
      });
    }
  });

  it('lets exactly one of many refreshes at once through', async () => {
    const { refreshToken } = await f.user('dave');
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, () => f.sessions.refresh(refreshToken, '127.0.0.1')),
    );
    expect(results.filter((r) => r.status === 'fulfilled')).toHaveLength(1);
  });

  it('stops tokens at once on logout, disable, delete and a new password', async () => {
    const eve = await f.user('eve');
    await f.tx((op) => f.sessions.logout(op, eve.principal));
    expect(await f.authenticator.authenticate(eve.accessToken)).toBeNull();
    expect(await refusal(f.sessions.refresh(eve.refreshToken, '127.0.0.1'))).toMatchObject({ status: 401 });

    const frank = await f.user('frank');
    const token = await f.tx((op) =>
      f.apiTokens.create(op, frank.principal, { name: 't', scopes: null, expiresInDays: null }),
    );
    await f.tx((op) => f.users.update(op, 'frank', { enabled: false }));
    expect(await f.authenticator.authenticate(frank.accessToken)).toBeNull();
    expect(await f.authenticator.authenticate(token.token)).toBeNull();
    expect(await refusal(f.sessions.refresh(frank.refreshToken, '127.0.0.1'))).toMatchObject({ status: 401 });
    await f.tx((op) => f.users.update(op, 'frank', { enabled: true }));
    expect(await f.authenticator.authenticate(frank.accessToken)).toBeNull();

    const grace = await f.user('grace');
    await f.tx((op) => f.users.delete(op, 'grace'));
    expect(await f.authenticator.authenticate(grace.accessToken)).toBeNull();

    const heidi = await f.user('heidi');
    const other = await f.sessions.login('heidi', heidi.password, '127.0.0.1');
    expect(
      await refusal(
        f.sessions.changePassword(
          heidi.principal,
          { current: 'wrong', password: 'a new password', revokeApiTokens: false },
          '127.0.0.1',
        ),
      ),
    ).toEqual({ status: 422, code: 'wrong_password', path: 'body.current' });
    await f.sessions.changePassword(
      heidi.principal,
      { current: heidi.password, password: 'a new password', revokeApiTokens: false },
      '127.0.0.1',
    );
    expect(await f.authenticator.authenticate(heidi.accessToken)).not.toBeNull();
    expect(await f.authenticator.authenticate(other.accessToken)).toBeNull();
    expect(await refusal(f.sessions.login('heidi', heidi.password, '127.0.0.1'))).toMatchObject({
      code: 'invalid_credentials',
    });
    await f.sessions.login('heidi', 'a new password', '127.0.0.1');
  });

  it('ends API tokens when a password is reset, and when its owner asks for it', async () => {
    const kim = await f.user('kim');
    const make = async (name: string) =>
      (await f.tx((op) => f.apiTokens.create(op, kim.principal, { name, scopes: null, expiresInDays: null }))).token;
    const first = await make('first');
    await f.sessions.changePassword(
      kim.principal,
      { current: kim.password, password: 'a second password', revokeApiTokens: false },
      '127.0.0.1',
    );
    expect(await f.authenticator.authenticate(first)).not.toBeNull();
    await f.sessions.changePassword(
      kim.principal,
      { current: 'a second password', password: 'a third password', revokeApiTokens: true },
      '127.0.0.1',
    );
    expect(await f.authenticator.authenticate(first)).toBeNull();
    const second = await make('second');
    await f.tx((op) => f.users.update(op, 'kim', { password: 'one that an admin set' }));
    expect(await f.authenticator.authenticate(second)).toBeNull();
    expect(await f.authenticator.authenticate(kim.accessToken)).toBeNull();
  });

  it('measures tokens by the clock of the database, whatever that of this process says', async () => {
    const { accessToken } = await f.sessions.login('root', 'password of root', '127.0.0.1');
    const step = jest.spyOn(Date, 'now');
    const real = Date.now();
    try {
      for (const minutes of [-20, 20]) {
        step.mockReturnValue(real + minutes * 60_000);
        expect((await f.principal(accessToken)).name).toBe('root');
        expect(
          (await f.principal((await f.sessions.login('root', 'password of root', '127.0.0.1')).accessToken)).name,
        ).toBe('root');
      }
    } finally {
      step.mockRestore();
    }
  });

  it('refuses an expired session and clears it away', async () => {
    const ivan = await f.user('ivan');
    await f.db.database.query(`UPDATE session SET expires_at = now() - interval '1 second' WHERE id = $1`, [
      ivan.principal.sessionId,
    ]);
    expect(await f.authenticator.authenticate(ivan.accessToken)).toBeNull();
    expect(await refusal(f.sessions.refresh(ivan.refreshToken, '127.0.0.1'))).toMatchObject({
      code: 'invalid_refresh_token',
    });
  });

  it('takes a new signing key when the old one is due, and still accepts tokens of the old one', async () => {
    const judy = await f.user('judy');
    await f.db.database.query(`UPDATE signing_key SET signs_until = now()`);
    const next = f.process();
    const { id } = await next.get(SigningKeys).current();
    const { kid } = JSON.parse(Buffer.from(judy.accessToken.split('.')[0] ?? '', 'base64url').toString()) as {
      kid: string;
    };
    expect(id).not.toBe(kid);
    expect(await next.get(IdentityAuthenticator).authenticate(judy.accessToken)).not.toBeNull();
    await f.db.database.query(`UPDATE signing_key SET verifies_until = now() WHERE id = $1`, [kid]);
    expect(await f.process().get(IdentityAuthenticator).authenticate(judy.accessToken)).toBeNull();
  });
});
