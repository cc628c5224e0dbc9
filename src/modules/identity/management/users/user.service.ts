import { injectable } from 'inversify';
import { v7 as uuid } from 'uuid';
import { z } from 'zod';
import type { Principal } from '../../../../core/auth/principal';
import type { Op } from '../../../../core/db/rows/op';
import { conflict, nameTaken, notFound } from '../../../../core/errors/problem';
import { Outbox } from '../../../../core/events/outbox';
import { decodeCursor, pageFrom } from '../../../../core/db/rows/cursor';
import type { Page, PageRequest } from '../../../../core/http/routes/pagination';
import type { User, Whoami } from '../../contract/identity.api';
import { ApiTokenRepository } from '../api-tokens/api-token.repository';
import { PasswordHasher } from './password-hasher';
import { ProjectRepository } from '../projects/project.repository';
import { SessionRepository } from '../sessions/session.repository';
import type { UserEntity } from './user.entity';
import { UserRepository } from './user.repository';

/** Projects that `whoami` tells an admin, who sees all of them. */
const maxProjects = 500;

@injectable()
export class UserService {
  constructor(
    private readonly users: UserRepository,
    private readonly projects: ProjectRepository,
    private readonly sessions: SessionRepository,
    private readonly apiTokens: ApiTokenRepository,
    private readonly hasher: PasswordHasher,
    private readonly outbox: Outbox,
  ) {}

  async list(op: Op, page: PageRequest): Promise<Page<User>> {
    const after = decodeCursor(page.cursor, z.tuple([z.string()]));
    const rows = await this.users.page(op, page.limit + 1, after?.[0], page.q);
    const { items, next } = pageFrom(rows, page.limit, (user) => [user.name]);
    return { items: items.map(present), next };
  }

  async get(op: Op, ref: string): Promise<User> {
    return present(await this.require(op, ref));
  }

  /** 409 `name_taken`. */
  async create(op: Op, request: { name: string; password: string; admin: boolean }): Promise<User> {
    const passwordHash = await this.hasher.hash(request.password);
    const created = await this.users.insert(op, { id: uuid(), name: request.name, passwordHash, admin: request.admin });
    if (!created) throw nameTaken('user', request.name);
    await this.publish(op, 'user.created', created);
    return present(created);
  }

  /**
   * A new password and a disabled user end all sessions; a new password ends the API tokens too: they may have been
   * made with the old one. 409 `last_admin`.
   */
  async update(
    op: Op,
    ref: string,
    change: { password?: string | undefined; admin?: boolean | undefined; enabled?: boolean | undefined },
  ): Promise<User> {
    const user = await this.require(op, ref);
    if (change.admin === false || change.enabled === false) await this.keepAnAdmin(op, user);
    const passwordHash = change.password === undefined ? undefined : await this.hasher.hash(change.password);
    await this.users.update(op, user.id, {
      ...(passwordHash !== undefined && { passwordHash }),
      ...(change.admin !== undefined && { admin: change.admin }),
      ...(change.enabled !== undefined && { enabled: change.enabled }),
    });
    if (passwordHash !== undefined) {
      await this.sessions.revokeAllOf(op, user.id, 'password_changed');
      await this.apiTokens.deleteAllOf(op, user.id);
    }
    if (change.enabled === false) await this.sessions.revokeAllOf(op, user.id, 'disabled');
    const updated = await this.require(op, user.id);
    await this.publish(op, 'user.updated', updated);
    return present(updated);
  }

  /** Its sessions, tokens and memberships go with it. 409 `last_admin`. */
  async delete(op: Op, ref: string): Promise<void> {
    const user = await this.require(op, ref);
    await this.keepAnAdmin(op, user);
    await this.users.delete(op, user.id);
    await this.publish(op, 'user.deleted', user);
  }

  async whoami(op: Op, principal: Principal): Promise<Whoami> {
    const user = await this.get(op, principal.id);
    const roles = new Map(principal.memberships.map((m) => [m.projectId, m.role]));
    const projects = user.admin
      ? await this.projects.page(op, 'all', maxProjects)
      : await this.projects.byIds(op, [...roles.keys()]);
    return {
      user,
      via: principal.via,
      projects: projects.map((p) => ({ id: p.id, name: p.name, role: roles.get(p.id) ?? ('admin' as const) })),
    };
  }

  private async keepAnAdmin(op: Op, user: UserEntity): Promise<void> {
    if (!user.admin) return;
    const admins = await this.users.lockAdmins(op);
    if (admins.includes(user.id) && admins.length === 1)
      throw conflict('last_admin', `"${user.name}" is the only enabled admin. Make another one first.`);
  }

  private async require(op: Op, ref: string): Promise<UserEntity> {
    const user = await this.users.byRef(op, ref);
    if (!user) throw notFound('user', ref);
    return user;
  }

  private publish(op: Op, type: string, user: UserEntity): Promise<void> {
    return this.outbox.publish(op, {
      type,
      projectId: null,
      subject: { kind: 'user', id: user.id },
      data: present(user),
    });
  }
}

const present = (user: UserEntity): User => ({
  id: user.id,
  name: user.name,
  admin: user.admin,
  enabled: user.enabled,
  createdAt: user.createdAt.toISOString(),
});
