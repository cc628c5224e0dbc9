import { injectable } from 'inversify';
import { buildVersion } from '../../../../core/config/build-version';
import type { Op } from '../../../../core/db/rows/op';
import { KnownSections } from '../../../../core/m2m/reports/known-sections';
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
    private readonly known: KnownSections,
  ) {
    super();
  }

  async accept(op: Op, hostId: string, data: NodeRevisions): Promise<void> {
    await this.hosts.putRevisions(op, hostId, data);
    await this.conditions.note(op, hostId, agentFact(data.release));
    await this.conditions.note(op, hostId, sectionsFact(this.known.unread(data.sections)));
  }
}

const sectionsFact = (unread: ReturnType<KnownSections['unread']>): ConditionFact =>
  unread.length === 0
    ? { type: 'Sections', status: 'true', reason: 'Read', message: 'all that it reports is understood' }
    : {
        type: 'Sections',
        status: 'false',
        reason: 'OfNewerAgent',
        message: `its agent reports ${unread
          .map(({ section, written, read }) => `${section} in revision ${written} (read up to ${read})`)
          .join(', ')}, so what was known of that before stands: upgrade management`,
      };

const agentFact = (release: string): ConditionFact =>
  release === buildVersion
    ? { type: 'Agent', status: 'true', reason: 'SameRelease', message: `its agent is ${release}` }
    : {
        type: 'Agent',
        status: 'false',
        reason: 'OtherRelease',
        message: `its agent is ${release} and management ${buildVersion}: bring both to the same release`,
      };
