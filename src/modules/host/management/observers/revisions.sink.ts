import { injectable } from 'inversify';
import { buildVersion } from '../../../../core/config/build-version';
import type { Op } from '../../../../core/db/rows/op';
import { ObservedSink } from '../../../../core/m2m/reports/observed';
import { type NodeRevisions, nodeRevisions, revisionsSection } from '../../../../core/m2m/verbs/revisions';
import { HostConditions } from '../conditions/host-conditions.service';
import type { ConditionFact } from '../hosts/host-state';
import { HostRepository } from '../hosts/host.repository';

/** Keeps what each host's agent understands, so that nothing is asked of it that it does not. */
@injectable()
export class RevisionsSink extends ObservedSink<NodeRevisions> {
  readonly section = revisionsSection;
  readonly schema = nodeRevisions;

  constructor(
    private readonly hosts: HostRepository,
    private readonly conditions: HostConditions,
  ) {
    super();
  }

  async accept(op: Op, hostId: string, data: NodeRevisions): Promise<void> {
    await this.hosts.putRevisions(op, hostId, data);
    await this.conditions.note(op, hostId, agentFact(data.release));
  }
}

const agentFact = (release: string): ConditionFact =>
  release === buildVersion
    ? { type: 'Agent', status: 'true', reason: 'SameRelease', message: `its agent is ${release}` }
    : {
        type: 'Agent',
        status: 'false',
        reason: 'OtherRelease',
        message: `its agent is ${release} and management ${buildVersion}: bring both to the same release`,
      };
