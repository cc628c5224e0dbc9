import type { Principal } from '../auth/principal';
import { PermissionCatalogue } from '../auth/permissions/permission-catalogue';
import { EventVisibility } from './event-visibility';

const visibility = new EventVisibility(
  new PermissionCatalogue({
    'instance:read': 'viewer',
    'instance:delete': 'member',
    'volume:read': 'viewer',
    'image:read': 'viewer',
    'host:read': 'admin',
    'secret:read': 'project-admin',
  }),
);
const project = '00000000-0000-4000-8000-00000000000a';
const who = (over: Partial<Principal>): Principal => ({
  kind: 'user',
  id: 'u',
  name: 'u',
  systemRoles: [],
  memberships: [{ projectId: project, role: 'member' }],
  sessionId: 's',
  via: 'api-token',
  tokenScopes: null,
  ...over,
});
const sees = (
  principal: Principal,
  kind: string,
  over: { projectId?: string | null; everyone?: boolean } = {},
): boolean => {
  const rooms = new Set(visibility.roomsOfPrincipal(principal));
  return visibility
    .roomsOfEvent({
      projectId: over.projectId === undefined ? project : over.projectId,
      everyone: over.everyone ?? false,
      subject: { kind, id: 'x' },
    })
    .some((room) => rooms.has(room));
};

describe('events are seen by who may read their subject', () => {
  it.each([
    ['no list of its own', null, true, true, true],
    ['every permission', ['*:*'], true, true, true],
    ['reading everything', ['*:read'], true, true, true],
    ['a noun that does not exist', ['any:read', 'any:any'], false, false, false],
    ['instances only', ['instance:read'], true, false, false],
    ['all verbs of volumes', ['volume:*'], false, true, false],
    ['changing without reading', ['instance:delete'], false, false, false],
    ['public images', ['image:read'], false, false, true],
    ['nothing', [], false, false, false],
  ])('API token with %s', (_, tokenScopes, instance, volume, publicImage) => {
    const token = who({ tokenScopes });
    expect([
      sees(token, 'instance'),
      sees(token, 'volume'),
      sees(token, 'image', { projectId: 'another', everyone: true }),
    ]).toEqual([instance, volume, publicImage]);
    expect(sees(token, 'instance', { projectId: 'another' })).toBe(false);
  });

  it('shows system objects to admins only, within a token of theirs', () => {
    expect(sees(who({}), 'host', { projectId: null })).toBe(false);
    expect(sees(who({ systemRoles: ['admin'] }), 'host', { projectId: null })).toBe(true);
    expect(sees(who({ systemRoles: ['admin'], tokenScopes: ['instance:read'] }), 'host', { projectId: null })).toBe(
      false,
    );
    expect(sees(who({ systemRoles: ['admin'], tokenScopes: ['host:read'] }), 'host', { projectId: null })).toBe(true);
  });

  it('shows a project nothing of nouns that its members may not read', () => {
    for (const role of ['viewer', 'member', 'project-admin'] as const) {
      const member = who({ memberships: [{ projectId: project, role }] });
      expect([sees(member, 'instance'), sees(member, 'audit'), sees(member, 'secret')]).toEqual([
        true,
        false,
        role === 'project-admin',
      ]);
    }
  });
});
