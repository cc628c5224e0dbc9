import { injectable } from 'inversify';

/** The newest revision in which this management reads each section of a heartbeat. */
@injectable()
export class KnownSections {
  private readonly revisions = new Map<string, number>();

  set(section: string, revision: number): void {
    this.revisions.set(section, revision);
  }

  /** Those that a host writes in a newer revision than is read here. Sections that nobody reads are none of them. */
  unread(written: Readonly<Record<string, number>>): { section: string; written: number; read: number }[] {
    return Object.entries(written).flatMap(([section, revision]) => {
      const read = this.revisions.get(section);
      return read !== undefined && revision > read ? [{ section, written: revision, read }] : [];
    });
  }
}
