import { isUtf8 } from 'node:buffer';
import { injectable } from 'inversify';
import type { Access } from '../../../../core/auth/access';
import type { Op } from '../../../../core/db/rows/op';
import { conflict, Problem } from '../../../../core/errors/problem';
import { NodeCaller, NodeUnreachableError, NodeVerbError } from '../../../../core/m2m/management/node-caller';
import type { GuestData } from '../../contract/compute.api';
import { instanceGuestFiles } from '../../contract/instance.verbs';
import { InstanceService } from '../instances/instance.service';

/** What an instance's guest reads of the cloud, asked of its host: no copy that could differ. */
@injectable()
export class GuestDataService {
  constructor(
    private readonly instances: InstanceService,
    private readonly nodes: NodeCaller,
  ) {}

  /** 409 `instance_has_no_host`, `guest_data_missing` (it is only being made); 503 `host_unreachable`. */
  async get(op: Op, access: Access, projectId: string | undefined, ref: string): Promise<GuestData> {
    const { id, hostId, hostname } = await this.instances.pick(op, access, projectId, ref);
    if (hostId === null)
      throw conflict('instance_has_no_host', 'It has no host yet, so there is nothing that its guest could read.');
    const files = await this.files(hostId, id);
    return {
      hostname,
      files: files.map(({ path, content }) => {
        const bytes = Buffer.from(content, 'base64');
        return { path, bytes: bytes.length, text: isUtf8(bytes) && !bytes.includes(0) ? bytes.toString('utf8') : null };
      }),
    };
  }

  private async files(hostId: string, instanceId: string): Promise<{ path: string; content: string }[]> {
    try {
      const outcome = await this.nodes.call(hostId, instanceGuestFiles, { instanceId }, {});
      return outcome.done ? outcome.result.files : [];
    } catch (error) {
      if (error instanceof NodeUnreachableError)
        throw new Problem({
          status: 503,
          code: 'host_unreachable',
          detail: 'The host of this instance does not answer at the moment. Try again.',
          extra: { retryAfterSeconds: 5 },
          cause: error,
        });
      if (error instanceof NodeVerbError)
        throw conflict(
          'guest_data_missing',
          'The host of this instance does not have what its guest shall read. It may only be being made.',
        );
      throw error;
    }
  }
}
