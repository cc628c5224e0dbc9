import { injectable } from 'inversify';
import type { Access } from '../../../../core/auth/access';
import type { Op } from '../../../../core/db/rows/op';
import { conflict, notFound, Problem } from '../../../../core/errors/problem';
import { NodeCaller, NodeUnreachableError, NodeVerbError } from '../../../../core/m2m/management/node-caller';
import { Workflows } from '../../../../core/workflow/request/workflows';
import { hostLeftovers } from '../../contract/host.verbs';
import type { ConfirmedLeftover, LeftoverListing } from '../../contract/leftover';
import type { HostEntity } from '../hosts/host.entity';
import { HostRepository } from '../hosts/host.repository';
import { RemoveLeftoversWorkflow } from '../workflows/remove-leftovers.workflow';
import { ClaimedLeftovers } from './claimed-leftovers';

/** What lies on a host and belongs to nothing, for operators: neither its agent nor management knows it. */
@injectable()
export class HostLeftoversService {
  constructor(
    private readonly hosts: HostRepository,
    private readonly claimed: ClaimedLeftovers,
    private readonly nodes: NodeCaller,
    private readonly workflows: Workflows,
    private readonly removing: RemoveLeftoversWorkflow,
  ) {}

  /**
   * The host looks now. What had a row before it looked, or has one after, is none: rows come before their things and go
   * after them. 409 `agent_too_old`; 503 `host_unreachable`, `host_could_not_look`.
   */
  async list(op: Op, ref: string, requestId: string): Promise<LeftoverListing> {
    const host = await this.require(op, ref);
    const before = await this.claimed.onHost(op, host.id);
    const listing = await this.look(host.id, requestId);
    return { ...listing, leftovers: await this.claimed.unclaimed(op, host.id, listing.leftovers, before) };
  }

  async remove(
    op: Op,
    caller: { access: Access; requestId: string },
    ref: string,
    leftovers: ConfirmedLeftover[],
  ): Promise<{ taskId: string }> {
    const host = await this.require(op, ref);
    const { id } = await this.workflows.start(
      op,
      this.removing.definition,
      { hostId: host.id, leftovers },
      {
        projectId: null,
        subject: { kind: 'host', id: host.id, name: host.name },
        createdBy: caller.access.principal.id,
        requestId: caller.requestId,
      },
    );
    return { taskId: id };
  }

  private async look(hostId: string, requestId: string): Promise<LeftoverListing> {
    try {
      const outcome = await this.nodes.call(hostId, hostLeftovers, {}, { requestId });
      if (outcome.done) return outcome.result;
      throw new Error('a read is answered at once');
    } catch (error) {
      throw problemOf(error);
    }
  }

  private async require(op: Op, ref: string): Promise<HostEntity> {
    const host = await this.hosts.find(op, ref);
    if (!host) throw notFound('host', ref);
    return host;
  }
}

const problemOf = (error: unknown): unknown => {
  const again = (code: string, detail: string): Problem =>
    new Problem({ status: 503, code, detail, extra: { retryAfterSeconds: 5 }, cause: error });
  if (error instanceof NodeUnreachableError)
    return again('host_unreachable', 'The host does not answer at the moment, and only its agent can look. Try again.');
  if (!(error instanceof NodeVerbError)) return error;
  return error.code === 'unknown_verb'
    ? conflict('agent_too_old', 'The agent of this host is too old for this: it has to be upgraded.')
    : again('host_could_not_look', `The host could not look: ${error.message}`);
};
