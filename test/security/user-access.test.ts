import type { Session } from '../../src/rest/rest-paths';
import { ManagementStack, passwordOf } from './management-stack';

jest.setTimeout(120_000);

describe('what a user is logged in with', () => {
  let stack: ManagementStack;
  beforeAll(async () => {
    stack = await ManagementStack.start();
  });
  afterAll(() => stack?.close());

  const status = async (token: string): Promise<number> => (await stack.client(token).call('GET', '/whoami')).status;
  const sessionsOf = async (user: string): Promise<Session[]> =>
    (await stack.admin.ok('GET', `/users/${user}/sessions`)).items;

  it('is listed to administrators, who end any of it at once', async () => {
    const first = await stack.user('anna');
    const second = stack.client('', '127.0.3.1');
    await second.login('anna', passwordOf('anna'));
    expect((await sessionsOf('anna')).map((s) => s.remoteAddress)).toEqual(['127.0.3.1', '127.0.0.1']);
    const [newest] = await sessionsOf('anna');
    await stack.admin.ok('DELETE', `/users/anna/sessions/${newest?.id ?? ''}`);
    expect([await status(first.token), await status(second.token)]).toEqual([200, 401]);
    expect((await stack.admin.call('DELETE', `/users/anna/sessions/${newest?.id ?? ''}`)).status).toBe(404);

    const token = await first.ok('POST', '/api-tokens', { name: 'ci' });
    expect((await stack.admin.ok('GET', '/users/anna/api-tokens')).items.map((t) => [t.id, t.name])).toEqual([
      [token.id, 'ci'],
    ]);
    await stack.admin.ok('DELETE', '/users/anna/api-tokens/ci');
    expect(await status(token.token)).toBe(401);

    await stack.admin.ok('DELETE', '/users/anna/sessions');
    expect(await status(first.token)).toBe(401);
    expect(await sessionsOf('anna')).toEqual([]);
  });

  it('cannot be ended by the name of another user', async () => {
    const bob = await stack.user('bob');
    await stack.user('carol');
    const [session] = await sessionsOf('bob');
    expect((await stack.admin.call('DELETE', `/users/carol/sessions/${session?.id ?? ''}`)).status).toBe(404);
    expect(await status(bob.token)).toBe(200);
  });

  it('goes with a password that an administrator sets, API tokens included, and not with one that its owner sets unless asked', async () => {
    const dora = await stack.user('dora');
    const make = async (name: string): Promise<string> => (await dora.ok('POST', '/api-tokens', { name })).token;
    const kept = await make('kept');
    await dora.ok('POST', '/users/me/password', { current: passwordOf('dora'), password: 'the second password' });
    expect(await status(kept)).toBe(200);
    await dora.ok('POST', '/users/me/password', {
      current: 'the second password',
      password: 'the third password',
      revokeApiTokens: true,
    });
    expect([await status(kept), await status(dora.token)]).toEqual([401, 200]);
    const another = await make('another');
    await stack.admin.ok('PATCH', '/users/dora', { password: 'set by an administrator' });
    expect([await status(another), await status(dora.token)]).toEqual([401, 401]);
  });

  it('is the same password in whatever form of Unicode it comes', async () => {
    const [composed, decomposed] = ['Stra\u00dfe \u00fcber Gr\u00fcn', 'Stra\u00dfe u\u0308ber Gru\u0308n'];
    await stack.admin.ok('POST', '/users', { name: 'emil', password: composed });
    expect((await stack.client().call('POST', '/login', { name: 'emil', password: decomposed })).status).toBe(200);
  });

  it('has scopes that some route asks for', async () => {
    const frida = await stack.user('frida');
    for (const scopes of [['*:*'], ['instance:*'], ['*:read'], ['network:create', 'task:cancel'], []]) {
      expect(
        (await frida.call('POST', '/api-tokens', { name: `t-${scopes.length}-${scopes.join()}`, scopes })).status,
      ).toBe(201);
    }
    for (const scope of ['nosuch:thing', 'instance:fly', 'nosuch:*', '*:fly']) {
      const answer = await frida.call('POST', '/api-tokens', {
        name: 'x',
        scopes: ['*:read', scope],
      });
      expect([answer.status, answer.body.code, answer.body.errors?.[0]?.path]).toEqual([
        422,
        'unknown_permission',
        'body.scopes.1',
      ]);
    }
  });
});
