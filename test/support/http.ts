import 'reflect-metadata';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Container, ContainerModule } from 'inversify';
import { hintsOf, metricsOf, permissionsOf } from '../../src/core/app/declarations';
import { Authenticator, type ProjectRef } from '../../src/core/auth/authenticator';
import { PermissionCatalogue } from '../../src/core/auth/permissions/permission-catalogue';
import type { Credential, Principal, ProjectRole } from '../../src/core/auth/principal';
import { Config } from '../../src/core/config/config';
import { coreConfigSchema } from '../../src/core/config/core-config';
import { MasterKey } from '../../src/core/crypto/master-key';
import { Database } from '../../src/core/db/database';
import { notFound, Problem } from '../../src/core/errors/problem';
import { ProblemHints } from '../../src/core/errors/problem-hints';
import { bindPeriodic } from '../../src/core/periodic/periodic.bindings';
import { bindEvents } from '../../src/core/events/events.bindings';
import { bindHttp } from '../../src/core/http/http.bindings';
import { createLogger } from '../../src/core/telemetry/create-logger';
import { Logging } from '../../src/core/telemetry/logging';
import { DeclaredMetrics } from '../../src/core/telemetry/declared-metrics';
import { Metrics } from '../../src/core/telemetry/metrics';
import { allModules } from '../../src/modules/all-modules';

export const projectA: ProjectRef = { id: '00000000-0000-4000-8000-00000000000a', name: 'alpha' };
export const projectB: ProjectRef = { id: '00000000-0000-4000-8000-00000000000b', name: 'beta' };
const projects = [projectA, projectB];

let users = 0;
/** A user with these memberships, by a session. */
export const principal = (
  name: string,
  roles: Partial<Record<'a' | 'b', ProjectRole>>,
  extra: Partial<Principal> = {},
): Principal => ({
  kind: 'user',
  id: `00000000-0000-4000-9000-${String(++users).padStart(12, '0')}`,
  name,
  systemRoles: [],
  memberships: [
    ...(roles.a ? [{ projectId: projectA.id, role: roles.a }] : []),
    ...(roles.b ? [{ projectId: projectB.id, role: roles.b }] : []),
  ],
  sessionId: `session-${name}`,
  via: 'session',
  tokenScopes: null,
  ...extra,
});

/** Tokens are plain names; revoking is forgetting. */
class FakeAuthenticator extends Authenticator {
  readonly tokens = new Map<string, Principal>([
    ['admin', principal('admin', {}, { systemRoles: ['admin'] })],
    ['alice', principal('alice', { a: 'member' })],
    ['both', principal('both', { a: 'member', b: 'viewer' })],
    ['viewer', principal('viewer', { a: 'viewer' })],
    ['nobody', principal('nobody', {})],
    ['limited', principal('limited', { a: 'member' }, { via: 'api-token', tokenScopes: ['network:read'] })],
  ]);

  override async authenticate(bearer: string): Promise<Principal | null> {
    return this.tokens.get(bearer) ?? null;
  }

  override async current(credentials: readonly Credential[]): Promise<(Principal | null)[]> {
    return credentials.map(({ id }) => [...this.tokens.values()].find((p) => p.sessionId === id) ?? null);
  }

  override async resolveProject(who: Principal, ref: string | undefined): Promise<ProjectRef> {
    const visible = projects.filter(
      (p) => who.systemRoles.includes('admin') || who.memberships.some((m) => m.projectId === p.id),
    );
    if (ref === undefined) {
      if (visible.length === 1 && visible[0]) return visible[0];
      throw new Problem({ status: 400, code: 'project_required', detail: 'Say which project, by ?project=.' });
    }
    const found = visible.find((p) => p.id === ref || p.name === ref);
    if (!found) throw notFound('project', ref);
    return found;
  }
}

/** A self-signed certificate for loopback. */
export const testTls = (): { key: string; cert: string } => {
  const dir = mkdtempSync(join(tmpdir(), 'vc-tls-'));
  try {
    const key = join(dir, 'key.pem');
    const cert = join(dir, 'cert.pem');
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-keyout',
        key,
        '-out',
        cert,
        '-days',
        '2',
        '-subj',
        '/CN=localhost',
        '-addext',
        'subjectAltName=IP:127.0.0.1,DNS:localhost',
      ],
      { stdio: 'pipe' },
    );
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  } finally {
    rmSync(dir, { recursive: true });
  }
};

export interface CoreForTest {
  container: Container;
  authenticator: FakeAuthenticator;
  /** Lines as logged, parsed. */
  logs: Record<string, unknown>[];
}

/**
 * Core's management services on a database, bound as the application binds them, listening on a free loopback port once
 * started.
 */
export const coreContainer = (
  database: Database,
  options: { redisUrl?: string; bodyLimit?: number } = {},
): CoreForTest => {
  const core = coreConfigSchema.parse({
    log: { level: 'debug' },
    management: { listen: '127.0.0.1', port: 0 },
    redis: { url: options.redisUrl ?? '' },
    limits: { body: options.bodyLimit ?? 65_536 },
  });
  const logs: Record<string, unknown>[] = [];
  const container = new Container({ defaultScope: 'Singleton' });
  const authenticator = new FakeAuthenticator();
  container.bind(Config).toConstantValue(new Config(core, {}));
  container
    .bind(Logging)
    .toConstantValue(
      new Logging(
        createLogger(
          { core },
          { write: (line: string) => void logs.push(JSON.parse(line) as Record<string, unknown>) },
        ),
      ),
    );
  const metrics = new Metrics();
  container.bind(Metrics).toConstantValue(metrics);
  container.bind(DeclaredMetrics).toConstantValue(new DeclaredMetrics(metrics, metricsOf(allModules)));
  container.bind(Database).toConstantValue(database);
  container.bind(Authenticator).toConstantValue(authenticator);
  container.bind(MasterKey).toConstantValue(new MasterKey(Buffer.alloc(32, 7)));
  container.bind(PermissionCatalogue).toConstantValue(new PermissionCatalogue(permissionsOf(allModules)));
  container.bind(ProblemHints).toConstantValue(new ProblemHints(hintsOf(allModules)));
  container.load(
    new ContainerModule((o) => {
      bindHttp(o);
      bindEvents(o);
      bindPeriodic(o);
    }),
  );
  return { container, authenticator, logs };
};
