import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Container, ContainerModule } from 'inversify';
import { pino } from 'pino';
import type { Access } from '../../../src/core/auth/access';
import { PermissionCatalogue } from '../../../src/core/auth/permissions/permission-catalogue';
import type { Permission } from '../../../src/core/auth/permissions/permissions';
import type { Principal } from '../../../src/core/auth/principal';
import { Config } from '../../../src/core/config/config';
import { coreConfigSchema } from '../../../src/core/config/core-config';
import { MasterKey } from '../../../src/core/crypto/master-key';
import { Database } from '../../../src/core/db/database';
import type { Op } from '../../../src/core/db/rows/op';
import { Outbox, type LiveEvent } from '../../../src/core/events/outbox';
import { Logging } from '../../../src/core/telemetry/logging';
import { identityConfigSchema } from '../../../src/modules/identity/contract/identity.config';
import { type OwnedResources, ProjectUsage } from '../../../src/modules/identity/contract/identity.ports';
import { ApiTokenService } from '../../../src/modules/identity/management/api-tokens/api-token.service';
import { identityEntities } from '../../../src/modules/identity/management/identity.entities';
import { identityModule } from '../../../src/modules/identity/identity.module';
import { identityWiring } from '../../../src/modules/identity/management/identity.wiring';
import { IdentityAuthenticator } from '../../../src/modules/identity/management/authority/identity-authenticator';
import { IdentityLifecycle } from '../../../src/modules/identity/management/identity-lifecycle.service';
import { ProjectService } from '../../../src/modules/identity/management/projects/project.service';
import { SecretLimiter } from '../../../src/core/http/secret-limiter';
import { RedisClients } from '../../../src/core/redis/redis-clients';
import { SessionService } from '../../../src/modules/identity/management/sessions/session.service';
import { UserService } from '../../../src/modules/identity/management/users/user.service';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';
import { HttpLoginAttempts1764300200002 } from '../../../migrations/1764300200002-http-login-attempts';
import { HttpSecretAttempts1764300200020 } from '../../../migrations/1764300200020-http-secret-attempts';
import { IdentityUsers1764300300000 } from '../../../migrations/1764300300000-identity-users';
import { IdentitySessionAddress1764300300002 } from '../../../migrations/1764300300002-identity-session-address';

class RecordedOutbox extends Outbox {
  readonly events: LiveEvent[] = [];

  override async publish(_op: Op, event: LiveEvent): Promise<void> {
    this.events.push(event);
  }
}

class SomeUsage extends ProjectUsage {
  owned: OwnedResources[] = [];

  override async resources(): Promise<OwnedResources[]> {
    return this.owned;
  }
}

const permissions = new PermissionCatalogue({
  ...identityModule.permissions,
  'instance:read': 'viewer',
  'instance:create': 'member',
  'volume:read': 'viewer',
});

/** The identity module alone on a database of its own. */
export class IdentityFixture {
  readonly outbox = new RecordedOutbox();
  readonly usage = new SomeUsage();
  readonly logs: string[] = [];

  private constructor(
    readonly db: TestDatabase,
    readonly stateDir: string,
    private readonly masterKey: MasterKey,
    private container: Container,
  ) {}

  static async start(config: Record<string, unknown> = {}): Promise<IdentityFixture> {
    const db = await startTestDatabase({
      entities: identityEntities,
      migrations: [
        HttpLoginAttempts1764300200002,
        HttpSecretAttempts1764300200020,
        IdentityUsers1764300300000,
        IdentitySessionAddress1764300300002,
      ],
    });
    const stateDir = await mkdtemp(join(tmpdir(), 'identity-'));
    const fixture = new IdentityFixture(db, stateDir, new MasterKey(randomBytes(32)), new Container());
    fixture.container = fixture.process(config);
    return fixture;
  }

  /** Another management process on the same database. */
  process(config: Record<string, unknown> = {}): Container {
    const container = new Container({ defaultScope: 'Singleton' });
    container.bind(Config).toConstantValue(
      new Config(coreConfigSchema.parse({ stateDir: this.stateDir }), {
        identity: identityConfigSchema.parse(config),
      }),
    );
    container
      .bind(Logging)
      .toConstantValue(new Logging(pino({ level: 'trace' }, { write: (line: string) => void this.logs.push(line) })));
    container.bind(Database).toConstantValue(this.db.database);
    container.bind(Outbox).toConstantValue(this.outbox);
    container.bind(MasterKey).toConstantValue(this.masterKey);
    container.bind(ProjectUsage).toConstantValue(this.usage);
    container.bind(RedisClients).toSelf().inSingletonScope();
    container.bind(SecretLimiter).toSelf().inSingletonScope();
    container.bind(PermissionCatalogue).toConstantValue(permissions);
    container.load(new ContainerModule(identityWiring.bind));
    return container;
  }

  get sessions(): SessionService {
    return this.container.get(SessionService);
  }
  get users(): UserService {
    return this.container.get(UserService);
  }
  get projects(): ProjectService {
    return this.container.get(ProjectService);
  }
  get apiTokens(): ApiTokenService {
    return this.container.get(ApiTokenService);
  }
  get authenticator(): IdentityAuthenticator {
    return this.container.get(IdentityAuthenticator);
  }
  get lifecycle(): IdentityLifecycle {
    return this.container.get(IdentityLifecycle);
  }

  tx<T>(fn: (op: Op) => Promise<T>): Promise<T> {
    return this.db.database.tx(fn);
  }

  /** A user with a session. */
  async user(
    name: string,
    options: { admin?: boolean } = {},
  ): Promise<{ principal: Principal; accessToken: string; refreshToken: string; password: string }> {
    const password = `password of ${name}`;
    await this.tx((op) => this.users.create(op, { name, password, admin: options.admin ?? false }));
    const tokens = await this.sessions.login(name, password, '127.0.0.1');
    return {
      principal: await this.principal(tokens.accessToken),
      accessToken: tokens.accessToken,
      refreshToken: tokens.refreshToken,
      password,
    };
  }

  async principal(bearer: string): Promise<Principal> {
    const principal = await this.authenticator.authenticate(bearer);
    if (!principal) throw new Error('not authenticated');
    return principal;
  }

  access(principal: Principal, permission: Permission): Access {
    return permissions.access(principal, permission);
  }

  async close(): Promise<void> {
    await this.db.close();
    await rm(this.stateDir, { recursive: true, force: true });
  }
}

/** The refusal that `work` ends with. */
export const refusal = async (
  work: Promise<unknown>,
): Promise<{ status: number; code: string; path: string | undefined }> => {
  try {
    await work;
  } catch (error) {
    const problem = error as { status: number; code: string; errors: { path: string }[] };
    if (typeof problem.status !== 'number') throw error;
    return { status: problem.status, code: problem.code, path: problem.errors[0]?.path };
  }
  throw new Error('it was not refused');
};
