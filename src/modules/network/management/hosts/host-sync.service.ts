import { injectable } from 'inversify';
import type { Op } from '../../../../core/db/rows/op';
import { Workflows } from '../../../../core/workflow/request/workflows';
import { PortRepository } from '../ports/port.repository';
import { SyncHostWorkflow } from '../workflows/sync-host.workflow';

/** Who asks for a change. */
export interface By {
  principal: string;
  requestId?: string;
}

/** Asks for a host's newest document to be applied. */
@injectable()
export class HostSync {
  constructor(
    private readonly workflows: Workflows,
    private readonly workflow: SyncHostWorkflow,
    private readonly ports: PortRepository,
  ) {}

  /** On every host with a port in one of these networks, or in one that a router joins them with now. */
  async reached(op: Op, networkIds: readonly string[], by: By): Promise<void> {
    for (const hostId of await this.ports.hostsReached(op, networkIds)) await this.start(op, hostId, by);
  }

  /** Gives the id of the task that does it. */
  async start(op: Op, hostId: string, by: By): Promise<string> {
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
