import type { HostNeed, HostParts } from '../../../host/contract/host-needs';
import type { AskedShare } from '../../contract/shares';
import type { KeptShare } from '../../contract/vmm.inventory';

/** The shares that a host gives to a project, and can. */
export const sharesFor = ({ shares = [] }: HostParts, projectId: string): readonly KeptShare[] =>
  (shares as readonly unknown[] as readonly KeptShare[]).filter(
    ({ usable, projects }) => usable && projects.includes(projectId),
  );

/** A host that gives the project all of these, for writing where that is asked for. */
export const shareNeeds = (projectId: string, asked: readonly AskedShare[]): HostNeed[] =>
  asked.map(({ share, readonly }) => ({
    code: 'share',
    key: `${share},${readonly ? 'ro' : 'rw'}`,
    saying: `No host can give it the share "${share}"${readonly ? '' : ' for writing'}, with all else that it asks for.`,
    refuses: (parts) => {
      const found = sharesFor(parts, projectId).find(({ name }) => name === share);
      if (found === undefined) return `it does not give its project the share "${share}"`;
      return found.readonly && !readonly ? `it gives the share "${share}" for reading only` : undefined;
    },
  }));
