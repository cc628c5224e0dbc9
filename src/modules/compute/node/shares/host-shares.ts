import { injectable } from 'inversify';
import { Config } from '../../../../core/config/config';
import { together } from '../../../../core/host/together';
import { VerbFailure } from '../../../../core/m2m/verbs/verb-handler';
import type { ComputeConfig } from '../../contract/compute.config';
import type { SharesOfSpec } from '../../contract/shares';
import type { ShareInventory } from '../../contract/vmm.inventory';
import type { VmShare } from '../drivers/vmm-driver';
import { usableDirectory, type NotToBeShared } from './usable-directory';

type Configured = ComputeConfig['shares'][number];

/** Which share it is stays with operators: users are told the same of one that is not theirs and one that is not there. */
const noSuchShare = (name: string, detail: string): VerbFailure =>
  new VerbFailure('no_such_share', `Its host does not give it the share "${name}".`, true, {}, { detail });

/** The directories of this host that its configuration lets instances mount. Nobody else names a path. */
@injectable()
export class HostShares {
  private readonly configured: readonly Configured[];
  private readonly never: NotToBeShared;

  constructor(config: Config) {
    this.configured = config.section<ComputeConfig>('compute').shares;
    const { stateDir, runDir, sandbox } = config.core;
    const { firstUser, users } = sandbox;
    this.never = {
      folders: [stateDir, runDir],
      users: { first: firstUser, last: firstUser + users - 1 },
    };
  }

  /** All of them as they are now. */
  async inventory(): Promise<ShareInventory[]> {
    return Promise.all(
      this.configured.map(async ({ name, path, readonly, projects }) => {
        const found = await usableDirectory(path, this.never);
        const reason = typeof found === 'string' ? found : '';
        return { name, readonly, projects, usable: reason === '', reason };
      }),
    );
  }

  /**
   * Those that an instance of the project shall have. Looked at each time, for the configuration and the directory may have
   * changed since. Throws `VerbFailure`: a permanent `no_such_share` for one that the project is not given, or not in that
   * way; `share_unusable`.
   */
  async of(asked: SharesOfSpec | undefined): Promise<VmShare[]> {
    if (!asked) return [];
    return together(...asked.wanted.map((one) => this.one(asked.projectId, one)));
  }

  private async one(projectId: string, { share, readonly }: SharesOfSpec['wanted'][number]): Promise<VmShare> {
    const found = this.configured.find(({ name }) => name === share);
    if (!found) throw noSuchShare(share, 'its configuration has none of that name');
    if (!found.projects.includes(projectId))
      throw noSuchShare(share, `its configuration does not give it to the project ${projectId}`);
    if (found.readonly && !readonly) throw noSuchShare(share, 'its configuration gives it for reading only');
    const owner = await usableDirectory(found.path, this.never);
    if (typeof owner === 'string')
      throw new VerbFailure(
        'share_unusable',
        `The share "${share}" cannot be used on its host now.`,
        false,
        {},
        { detail: `${found.path}: ${owner}` },
      );
    return { tag: share, path: found.path, readonly, ...owner };
  }
}
