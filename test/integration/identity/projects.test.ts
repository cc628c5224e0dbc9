import { IdentityFixture, refusal } from './identity-fixture';
import type { Principal } from '../../../src/core/auth/principal';

jest.setTimeout(60_000);

describe('users and projects', () => {
  let f: IdentityFixture;
  let root: Principal;
  let rootToken: string;
  beforeAll(async () => {
    f = await IdentityFixture.start();
    const made = await f.user('root', { admin: true });
    root = made.principal;
    rootToken = made.accessToken;
  });
  afterAll(() => f.close());

  it('refuses taken names with the field, also in a race, and leaves nothing behind', async () => {
    const create = (name: string) => f.tx((op) => f.projects.create(op, { name, description: '' }));
    const results = await Promise.allSettled(Array.from({ length: 6 }, () => create('race')));
    expect(results.filter((r) => r.status === 'fulfilled')).toHaveLength(1);
    const taken = { status: 409, code: 'name_taken', path: 'body.name' };
    expect(await refusal(create('race'))).toEqual(taken);
    await create('other');
    expect(
      await refusal(f.tx((op) => f.projects.update(op, f.access(root, 'project:update'), 'other', { name: 'race' }))),
    ).toEqual(taken);
    expect(await refusal(f.user('root'))).toEqual(taken);
  });

  it('keeps one enabled admin, however many are removed at once', async () => {
    expect(await refusal(f.tx((op) => f.users.update(op, 'root', { admin: false })))).toMatchObject({
      status: 409,
      code: 'last_admin',
    });
    expect(await refusal(f.tx((op) => f.users.update(op, 'root', { enabled: false })))).toMatchObject({
      status: 409,
      code: 'last_admin',
    });
    expect(await refusal(f.tx((op) => f.users.delete(op, 'root')))).toMatchObject({ status: 409, code: 'last_admin' });
    for (const name of ['a1', 'a2', 'a3']) await f.user(name, { admin: true });
    const results = await Promise.allSettled(
      ['a1', 'a2', 'a3', 'root'].map((name) => f.tx((op) => f.users.update(op, name, { admin: false }))),
    );
    expect(results.filter((r) => r.status === 'rejected')).toHaveLength(1);
    const { items } = await f.users.list(f.db.database.op, { limit: 50 });
    expect(items.filter((u) => u.admin)).toHaveLength(1);
    await f.db.database.query(`UPDATE app_user SET admin = (name = 'root')`);
  });

  it('shows projects to their members only, and lets roles do what they may', async () => {
    const { id } = await f.tx((op) => f.projects.create(op, { name: 'team', description: 'ours' }));
    const ann = await f.user('ann');
    const ben = await f.user('ben');
    const eve = await f.user('eve');
    await f.tx((op) => f.projects.setMember(op, f.access(root, 'member:update'), 'team', 'ann', 'project-admin'));
    const admin = await f.principal(ann.accessToken);
    expect(admin.memberships).toEqual([{ projectId: id, role: 'project-admin' }]);
    await f.tx((op) => f.projects.setMember(op, f.access(admin, 'member:update'), id, ben.principal.id, 'viewer'));
    const viewer = await f.principal(ben.accessToken);
    expect(
      (
        await f.projects.listMembers(f.db.database.op, f.access(viewer, 'member:read'), 'team', { limit: 10 })
      ).items.map((m) => m.userName),
    ).toEqual(['ann', 'ben']);
    expect(
      await refusal(
        f.tx((op) => f.projects.setMember(op, f.access(viewer, 'member:update'), id, 'ben', 'project-admin')),
      ),
    ).toMatchObject({ status: 403, code: 'forbidden' });
    expect(
      await refusal(f.projects.get(f.db.database.op, f.access(eve.principal, 'project:read'), 'team')),
    ).toMatchObject({ status: 404 });
    expect(await refusal(f.projects.get(f.db.database.op, f.access(eve.principal, 'project:read'), id))).toMatchObject({
      status: 404,
    });
    expect(
      (await f.projects.list(f.db.database.op, f.access(eve.principal, 'project:read').projects, { limit: 10 })).items,
    ).toEqual([]);
    expect(
      (await f.projects.list(f.db.database.op, f.access(viewer, 'project:read').projects, { limit: 10 })).items.map(
        (p) => p.name,
      ),
    ).toEqual(['team']);

    expect(await f.authenticator.resolveProject(viewer, undefined)).toEqual({ id, name: 'team' });
    expect(await f.authenticator.resolveProject(viewer, id)).toEqual({ id, name: 'team' });
    expect(await refusal(f.authenticator.resolveProject(viewer, 'race'))).toMatchObject({ status: 404 });
    expect(await refusal(f.authenticator.resolveProject(viewer, '\u0000'))).toMatchObject({ status: 404 });
    expect(await refusal(f.authenticator.resolveProject(eve.principal, undefined))).toMatchObject({
      status: 400,
      code: 'project_required',
    });
    expect(await refusal(f.authenticator.resolveProject(await f.principal(rootToken), undefined))).toMatchObject({
      status: 400,
      code: 'project_required',
    });

    await f.tx((op) => f.projects.removeMember(op, f.access(admin, 'member:delete'), 'team', 'ben'));
    expect((await f.principal(ben.accessToken)).memberships).toEqual([]);
    expect(
      await refusal(f.tx((op) => f.projects.removeMember(op, f.access(admin, 'member:delete'), 'team', 'ben'))),
    ).toMatchObject({ status: 404 });
  });

  it('deletes a project only when nothing belongs to it', async () => {
    const { id } = await f.tx((op) => f.projects.create(op, { name: 'doomed', description: '' }));
    f.usage.owned = [
      {
        count: 12,
        first: Array.from({ length: 10 }, (_, i) => ({ kind: 'instance', id: `id-${i}`, name: `web-${i}` })),
      },
      { count: 0, first: [] },
      { count: 1, first: [{ kind: 'network', id: 'id-n', name: 'n' }] },
    ];
    const remove = () => f.tx((op) => f.projects.delete(op, f.access(root, 'project:delete'), 'doomed'));
    await expect(remove()).rejects.toMatchObject({
      status: 409,
      code: 'project_in_use',
      detail: expect.stringMatching(/instance "web-9" and 3 more\. Delete these first\.$/),
      extra: { count: 13 },
    });
    f.usage.owned = [];
    await remove();
    expect(await refusal(remove())).toMatchObject({ status: 404 });
    expect(await refusal(f.tx((op) => f.projects.hold(op, id)))).toMatchObject({ status: 404 });
    expect(f.outbox.events.at(-1)).toMatchObject({ type: 'project.deleted', subject: { kind: 'project', id } });
  });

  it('makes a delete wait for a create that is under way', async () => {
    const { id } = await f.tx((op) => f.projects.create(op, { name: 'busy', description: '' }));
    let finish = (): void => undefined;
    const started = new Promise<void>((resolveStarted) => {
      void f.tx(async (op) => {
        await f.projects.hold(op, id);
        resolveStarted();
        await new Promise<void>((resolve) => (finish = resolve));
        f.usage.owned = [{ count: 1, first: [{ kind: 'instance', id: 'id', name: 'web' }] }];
      });
    });
    await started;
    const removal = refusal(f.tx((op) => f.projects.delete(op, f.access(root, 'project:delete'), 'busy')));
    await waitForLockWaiter(f);
    finish();
    expect(await removal).toMatchObject({ code: 'project_in_use' });
    f.usage.owned = [];
  });

  it('walks lists by cursor, each row once, and refuses foreign cursors', async () => {
    await Promise.all(
      Array.from({ length: 25 }, (_, i) =>
        f.tx((op) => f.projects.create(op, { name: `p-${String(i).padStart(2, '0')}`, description: '' })),
      ),
    );
    const seen: string[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < 20; page += 1) {
      const answer = await f.projects.list(f.db.database.op, 'all', { limit: 7, cursor });
      seen.push(...answer.items.map((p) => p.name).filter((n) => n.startsWith('p-')));
      if (answer.next === null) break;
      cursor = answer.next;
    }
    expect(seen).toHaveLength(25);
    expect(new Set(seen).size).toBe(25);
    for (const bad of ['x', '', 'bnVsbA', Buffer.from('[1]').toString('base64url')]) {
      expect(await refusal(f.projects.list(f.db.database.op, 'all', { limit: 7, cursor: bad }))).toEqual({
        status: 400,
        code: 'invalid_cursor',
        path: 'query.cursor',
      });
    }
  });

  it('gives API tokens that only narrow, and only to a login', async () => {
    const kim = await f.user('kim');
    const created = await f.tx((op) =>
      f.apiTokens.create(op, kim.principal, { name: 'ci', scopes: ['instance:read'], expiresInDays: 1 }),
    );
    expect(created.token).toMatch(/^vcs_[0-9a-f]{32}_[A-Za-z0-9_-]{43}$/);
    const rows = await f.db.database.query<{ hash: Buffer }>('SELECT hash FROM api_token WHERE id = $1', [created.id]);
    expect(rows[0]?.hash.toString('base64url')).not.toContain(created.token.slice(-43));
    const principal = await f.principal(created.token);
    expect(principal).toMatchObject({ name: 'kim', via: 'api-token', tokenScopes: ['instance:read'] });
    expect(f.access(principal, 'project:read').projects).toEqual([]);
    expect(
      (await f.apiTokens.list(f.db.database.op, kim.principal, { limit: 10 })).items[0]?.lastUsedAt,
    ).not.toBeNull();
    expect(
      await refusal(
        f.tx((op) => f.apiTokens.create(op, principal, { name: 'more', scopes: null, expiresInDays: null })),
      ),
    ).toMatchObject({ status: 403, code: 'session_required' });
    expect(
      await refusal(
        f.tx((op) => f.apiTokens.create(op, kim.principal, { name: 'ci', scopes: null, expiresInDays: null })),
      ),
    ).toMatchObject({ code: 'name_taken' });
    expect(await refusal(f.tx((op) => f.apiTokens.delete(op, root, created.id)))).toMatchObject({ status: 404 });
    await f.db.database.query(`UPDATE api_token SET expires_at = now() WHERE id = $1`, [created.id]);
    expect(await f.authenticator.authenticate(created.token)).toBeNull();
    await f.tx((op) => f.apiTokens.delete(op, kim.principal, 'ci'));
    expect((await f.apiTokens.list(f.db.database.op, kim.principal, { limit: 10 })).items).toEqual([]);
  });

  it('puts no secret into events', () => {
    const text = JSON.stringify(f.outbox.events);
    expect(text).not.toMatch(/password|argon2|vcs_|vcr_/);
  });
});

const waitForLockWaiter = async (f: IdentityFixture): Promise<void> => {
  const end = Date.now() + 5000;
  while (Date.now() < end) {
    const rows = await f.db.database.query(
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    if (rows.length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('nobody waits for the lock');
};
