import type { ModuleManifest } from '../../core/app/module-manifest';

export const identityModule: ModuleManifest = {
  name: 'identity',
  needs: [],
  permissions: {
    'project:read': 'viewer',
    'project:update': 'project-admin',
    'project:create': 'admin',
    'project:delete': 'admin',
    'member:read': 'viewer',
    'member:update': 'project-admin',
    'member:delete': 'project-admin',
    'user:read': 'admin',
    'user:create': 'admin',
    'user:update': 'admin',
    'user:delete': 'admin',
    'session:read': 'admin',
    'session:update': 'everyone',
    'session:delete': 'everyone',
    'api-token:read': 'everyone',
    'api-token:create': 'everyone',
    'api-token:delete': 'everyone',
  },
  config: async () => (await import('./contract/identity.config.js')).identityConfigSchema,
  entities: async () => (await import('./management/identity.entities.js')).identityEntities,
  management: async () => (await import('./management/identity.wiring.js')).identityWiring,
  commands: async () => new (await import('./cli/identity.commands.js')).IdentityCommands(),
};
