import { randomUUID } from 'node:crypto';
import { injectable } from 'inversify';
import { Config } from '../../../../core/config/config';
import type { Op } from '../../../../core/db/rows/op';
import { conflict, notFound, unprocessable } from '../../../../core/errors/problem';
import { looksLikeId } from '../../../../core/http/routes/fields';
import type { NetworkConfig } from '../../contract/network.config';
import type { SecurityGroupDocument } from '../../contract/security-group.document';
import { BehindHosts } from './behind-hosts';
import { GroupMembersRepository, type OfPorts } from './group-members.repository';
import { SecurityGroupRepository } from './security-group.repository';

const defaultGroup = 'default';

/** The groups of ports: which they are in, and what their hosts are told. */
@injectable()
export class PortGroups {
  constructor(
    private readonly groups: SecurityGroupRepository,
    private readonly members: GroupMembersRepository,
    private readonly behind: BehindHosts,
    private readonly config: Config,
  ) {}

  /**
   * Ids of groups of the project, each once, in the order of what was asked for; they stay until the transaction ends.
   * 422 `security_group_not_found` with the field, `too_many_security_groups`.
   */
  async resolve(op: Op, projectId: string, refs: readonly string[], path: string): Promise<string[]> {
    const found = await this.find(op, projectId, refs);
    const ids = refs.map((ref, index) => {
      const id = found[index];
      if (id === undefined) throw unknownGroup(`${path}.${index}`, ref);
      return id;
    });
    const distinct = [...new Set(ids)];
    const { groupsPerPort } = this.config.section<NetworkConfig>('network').securityGroups;
    if (distinct.length > groupsPerPort)
      throw unprocessable(
        path,
        'too_many_security_groups',
        `A port is in ${groupsPerPort} security groups at most; these are ${distinct.length}.`,
      );
    return distinct;
  }

  /** As `resolve`, of one reference; `path` is the field's own. */
  async resolveOne(op: Op, projectId: string, ref: string, path: string): Promise<string[]> {
    const [id] = await this.find(op, projectId, [ref]);
    if (id === undefined) throw unknownGroup(path, ref);
    return [id];
  }

  /** The group of ports that name none; made with its rules where the project has none yet. */
  async ensureDefault(op: Op, projectId: string): Promise<string> {
    const [known] = await this.groups.named(op, [projectId], defaultGroup);
    if (known) return known.id;
    // In one statement, so that nobody sees it without rules.
    await op.query(
      `WITH made AS (
         INSERT INTO security_group (id, project_id, name, description, is_default) VALUES ($1, $2, 'default', 'Of ports that name no group', true)
         ON CONFLICT ON CONSTRAINT security_group_name_key DO NOTHING RETURNING id)
       INSERT INTO security_group_rule (id, group_id, direction, ethertype, remote_group_id)
       SELECT gen_random_uuid(), made.id, d.direction, e.ethertype, CASE d.direction WHEN 'ingress' THEN made.id END
         FROM made CROSS JOIN (VALUES ('egress'), ('ingress')) AS d(direction) CROSS JOIN (VALUES ('ipv4'), ('ipv6')) AS e(ethertype)`,
      [randomUUID(), projectId],
    );
    const [made] = await this.groups.named(op, [projectId], defaultGroup);
    if (!made) throw notFound('security-group', defaultGroup);
    return made.id;
  }

  /** A port that was just made joins its groups, or the default one. 409 `security_group_gone`. */
  async join(op: Op, port: { id: string; projectId: string }, groupIds: readonly string[] | undefined): Promise<void> {
    const wanted = groupIds ?? [await this.ensureDefault(op, port.projectId)];
    const held = await this.groups.held(op, port.projectId, { ids: wanted, names: [] });
    if (held.length < wanted.length)
      throw conflict('security_group_gone', 'A security group of the port was deleted meanwhile.', {});
    await this.members.join(op, port.id, wanted);
  }

  /**
   * Before ports of an instance, or this one, come to documents or go from them: hosts on which rules name the members
   * of their groups hear of it. Comes before `document` of their own host.
   */
  async moving(op: Op, of: OfPorts, comes: boolean): Promise<void> {
    const { groups, hosts } = await this.members.named(op, of, !comes);
    if (groups.length > 0) await this.behind.mark(op, groups, hosts);
  }

  /** What a document says of groups. `ports` are all of the host's, `networks` those that they reach. */
  async documents(
    op: Op,
    hostId: string,
    generation: number,
    ports: readonly { id: string }[],
    networks: readonly { id: string }[],
  ): Promise<{ groups: SecurityGroupDocument[]; ofPort: Map<string, string[]> }> {
    const ofPort = await this.members.ofPorts(
      op,
      ports.map(({ id }) => id),
    );
    const needed = await this.members.needed(op, [...new Set([...ofPort.values()].flat())].sort());
    const remote = new Set(needed.flatMap(({ rules }) => rules.flatMap(({ group }) => group ?? [])));
    const members = await this.members.members(
      op,
      [...remote].sort(),
      networks.map(({ id }) => id),
    );
    await this.members.deliver(op, hostId, generation, needed);
    return {
      groups: needed.map(({ id, rules }) => ({ id, rules, members: members.get(id) ?? [] })),
      ofPort,
    };
  }

  /** The id that each reference means; undefined for what the project does not have. */
  private async find(op: Op, projectId: string, refs: readonly string[]): Promise<(string | undefined)[]> {
    if (refs.includes(defaultGroup)) await this.ensureDefault(op, projectId);
    const found = await this.groups.held(op, projectId, {
      ids: refs.filter(looksLikeId),
      names: refs.filter((ref) => !looksLikeId(ref)),
    });
    return refs.map(
      (ref) => found.find(({ id, name }) => (looksLikeId(ref) ? id === ref.toLowerCase() : name === ref))?.id,
    );
  }
}

const unknownGroup = (path: string, ref: string): Error =>
  unprocessable(path, 'security_group_not_found', `The project has no security group "${ref}".`);
