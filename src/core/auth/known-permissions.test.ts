import { KnownPermissions } from './known-permissions';

it('knows permissions that a route asks for, and patterns that cover one', () => {
  const known = new KnownPermissions();
  for (const permission of ['instance:read', 'instance:create', 'host:enroll'] as const) known.add(permission);
  expect(
    ['*:*', 'instance:*', '*:read', '*:enroll', 'instance:read', 'host:enroll'].filter((scope) => !known.knows(scope)),
  ).toEqual([]);
  expect(
    ['nosuch:thing', 'instance:fly', 'nosuch:*', '*:fly', 'host:read', 'instance:enroll', ''].filter((scope) =>
      known.knows(scope),
    ),
  ).toEqual([]);
});
