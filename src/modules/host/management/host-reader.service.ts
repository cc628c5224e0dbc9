import { injectable } from 'inversify';
import { Config } from '../../../core/config/config';
import type { Op } from '../../../core/db/op';
import type { HostConfig } from '../contract/host.config';
import { Hosts, type SchedulableHost } from '../contract/host.ports';
import { capacityOf } from './host-capacity';
import { HostRepository } from './host.repository';

/** Hosts as other modules see them. */
@injectable()
export class HostReader extends Hosts {
  constructor(
    private readonly hosts: HostRepository,
    private readonly config: Config,
  ) {
    super();
  }

  async all(op: Op): Promise<SchedulableHost[]> {
    const config = this.config.section<HostConfig>('host');
    return (await this.hosts.all(op)).map((host) => ({
      id: host.id,
      name: host.name,
      state: host.state,
      schedulable: host.schedulable,
      reason: host.reason,
      architecture: host.architecture,
      vmms: host.vmms,
      ...capacityOf(host, config),
    }));
  }

  names(op: Op, ids: string[]): Promise<Map<string, string>> {
    return this.hosts.names(op, ids);
  }
}
