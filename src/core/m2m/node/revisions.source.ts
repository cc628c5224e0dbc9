import { injectable } from 'inversify';
import { buildVersion } from '../../config/build-version';
import { ObservedSource } from '../reports/observed';
import { type NodeRevisions, revisionsSection } from '../verbs/revisions';

/** Tells management which revisions this agent understands and says: with the first heartbeat and after each break. */
@injectable()
export class RevisionsSource extends ObservedSource {
  readonly section = revisionsSection;
  private told: NodeRevisions = { release: buildVersion, verbs: {}, sections: {}, callsInTurn: true };

  /** Once, before the first heartbeat. */
  register(verbs: Record<string, number>, sources: readonly ObservedSource[]): void {
    const sections = Object.fromEntries([this, ...sources].map((source) => [source.section, source.revision]));
    this.told = { release: buildVersion, verbs, sections, callsInTurn: true };
  }

  override collect(): Promise<NodeRevisions> {
    return Promise.resolve(this.told);
  }
}
