import { injectable } from 'inversify';
import type { Op } from '../../../../core/db/rows/op';
import { Workflows } from '../../../../core/workflow/request/workflows';
import { SyncHostWorkflow } from '../workflows/sync-host.workflow';

/** Asks for a host's newest document to be applied. */
@injectable()
export class HostSync {
  constructor(
    private readonly workflows: Workflows,
    private readonly workflow: SyncHostWorkflow,
  ) {}

  /** Gives the id of the task that does it. */
  async start(op: Op, hostId: string, by: { principal: string; requestId?: string }): Promise<string> {
    const { id } = await this.workflows.start(
      op,
      this.workflow.definition,
      { hostId },
      {
        projectId: null,
        subject: { kind: 'host', id: hostId, name: 'networks' },
        createdBy: by.principal,
        ...(by.requestId !== undefined && { requestId: by.requestId }),
      },
    );
    return id;
  }
}
