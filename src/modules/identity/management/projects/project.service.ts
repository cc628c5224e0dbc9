import { inject, injectable, multiInject, optional } from 'inversify';
import { v7 as uuid } from 'uuid';
import { z } from 'zod';
import type { Access } from '../../../../core/auth/access';
import type { ProjectRole } from '../../../../core/auth/principal';
import type { Op } from '../../../../core/db/rows/op';
import { inUse, namedUsers } from '../../../../core/errors/in-use';
import { nameTaken, notFound } from '../../../../core/errors/problem';
import { Outbox } from '../../../../core/events/outbox';
import { decodeCursor, pageFrom } from '../../../../core/db/rows/cursor';
import type { Page, PageRequest } from '../../../../core/http/routes/pagination';
import type { Member, Project } from '../../contract/identity.api';
import { type OwnedResources, ProjectUsage, Projects } from '../../contract/identity.ports';
import type { ProjectEntity } from './project.entity';
import { ProjectMemberRepository } from './project-member.repository';
import { ProjectRepository } from './project.repository';
import { UserRepository } from '../users/user.repository';

const nameKey = z.tuple([z.string()]);

@injectable()
export class ProjectService extends Projects {
  constructor(
    @inject(ProjectRepository) private readonly projects: ProjectRepository,
    @inject(ProjectMemberRepository) private readonly members: ProjectMemberRepository,
    @inject(UserRepository) private readonly users: UserRepository,
    @inject(Outbox) private readonly outbox: Outbox,
    @multiInject(ProjectUsage) @optional() private readonly usages: ProjectUsage[] = [],
  ) {
    super();
  }

  override async hold(op: Op, projectId: string): Promise<void> {
    if (!(await this.projects.lock(op, projectId, 'KEY SHARE'))) throw notFound('project', projectId);
  }

  override async names(op: Op, ids: string[]): Promise<Map<string, string>> {
    return new Map((await this.projects.byIds(op, [...new Set(ids)])).map((p) => [p.id, p.name]));
  }

  async list(op: Op, projects: 'all' | readonly string[], page: PageRequest): Promise<Page<Project>> {
    const after = decodeCursor(page.cursor, nameKey);
    const rows = await this.projects.page(op, projects, page.limit + 1, after?.[0], page.q);
    const { items, next } = pageFrom(rows, page.limit, (project) => [project.name]);
    return { items: items.map(present), next };
  }

  async get(op: Op, access: Access, ref: string): Promise<Project> {
    return present(await this.require(op, access, ref));
  }

  /** 409 `name_taken`. */
  async create(op: Op, request: { name: string; description: string }): Promise<Project> {
    const created = await this.projects.insert(op, { id: uuid(), ...request });
    if (!created) throw nameTaken('project', request.name);
    await this.publish(op, 'project.created', created);
    return present(created);
  }

  /** 409 `name_taken`. */
  async update(
    op: Op,
    access: Access,
    ref: string,
    change: { name?: string | undefined; description?: string | undefined },
  ): Promise<Project> {
    const project = await this.require(op, access, ref);
    const given = {
      ...(change.name !== undefined && { name: change.name }),
      ...(change.description !== undefined && { description: change.description }),
    };
    await this.projects.update(op, project.id, given);
    const updated = { ...project, ...given };
    await this.publish(op, 'project.updated', updated);
    return present(updated);
  }

  /** 409 `project_in_use`, naming what belongs to it, while anything does. Memberships go with it. */
  async delete(op: Op, access: Access, ref: string): Promise<void> {
    const project = await this.require(op, access, ref);
    if (!(await this.projects.lock(op, project.id, 'UPDATE'))) throw notFound('project', ref);
    const owned: OwnedResources[] = [];
    for (const usage of this.usages) owned.push(...(await usage.resources(op, project.id, namedUsers)));
    const count = owned.reduce((sum, resources) => sum + resources.count, 0);
    if (count > 0)
      throw inUse(
        'project_in_use',
        `The project "${project.name}"`,
        owned.flatMap(({ first }) => first),
        count,
      );
    for (const usage of this.usages) await usage.gone(op, project.id);
    await this.projects.delete(op, project.id);
    await this.publish(op, 'project.deleted', project);
  }

  async listMembers(op: Op, access: Access, ref: string, page: PageRequest): Promise<Page<Member>> {
    const project = await this.require(op, access, ref);
    const after = decodeCursor(page.cursor, nameKey);
    const rows = await this.members.page(op, project.id, page.limit + 1, after?.[0], page.q);
    return pageFrom(rows, page.limit, (row) => [row.userName]);
  }

  /** Adds a member or changes its role. @param userRef the user's id or name */
  async setMember(op: Op, access: Access, ref: string, userRef: string, role: ProjectRole): Promise<Member> {
    const project = await this.require(op, access, ref);
    const user = await this.users.byRef(op, userRef);
    if (!user) throw notFound('user', userRef);
    await this.members.set(op, project.id, user.id, role);
    const member: Member = { userId: user.id, userName: user.name, role };
    await this.outbox.publish(op, {
      type: 'member.updated',
      projectId: project.id,
      subject: { kind: 'member', id: user.id },
      data: { ...member, projectId: project.id },
    });
    return member;
  }

  async removeMember(op: Op, access: Access, ref: string, userRef: string): Promise<void> {
    const project = await this.require(op, access, ref);
    const user = await this.users.byRef(op, userRef);
    if (!user || !(await this.members.remove(op, project.id, user.id))) throw notFound('member', userRef);
    await this.outbox.publish(op, {
      type: 'member.deleted',
      projectId: project.id,
      subject: { kind: 'member', id: user.id },
      data: { userId: user.id, projectId: project.id },
    });
  }

  private async require(op: Op, access: Access, ref: string): Promise<ProjectEntity> {
    const project = await this.projects.byRef(op, ref);
    if (!project) throw notFound('project', ref);
    access.assert(project.id, 'project', ref);
    return project;
  }

  private publish(op: Op, type: string, project: ProjectEntity): Promise<void> {
    return this.outbox.publish(op, {
      type,
      projectId: project.id,
      subject: { kind: 'project', id: project.id },
      data: present(project),
    });
  }
}

const present = (project: ProjectEntity): Project => ({
  id: project.id,
  name: project.name,
  description: project.description,
  createdAt: project.createdAt.toISOString(),
});
