import type { ContainerModuleLoadOptions } from 'inversify';
import { RecordProblems } from '../../host/records/record-problems';
import { PeriodicMetrics } from '../../periodic/periodic-metrics';
import { Periodic } from '../../periodic/periodic.service';
import { EventSender } from './event-sender';
import { HeartbeatService } from './heartbeat.service';
import { HttpsManagementClient } from './https-management-client';
import { JournalKeeper } from './journal-keeper';
import { ManagementAddresses } from './management-addresses';
import { NodeAgent } from './node-agent';
import { NodeIdentity } from './node-identity';
import { NodeServer } from './node-server';
import { RevisionsSource } from './revisions.source';
import { ManagementClient } from '../management/node-route';
import { ObservedReporter } from '../reports/observed';

/** The transport's node half. */
export const bindNodeTransport = ({ bind }: Pick<ContainerModuleLoadOptions, 'bind'>): void => {
  for (const part of [
    RecordProblems,
    ManagementAddresses,
    NodeIdentity,
    HttpsManagementClient,
    EventSender,
    RevisionsSource,
    HeartbeatService,
    JournalKeeper,
    Periodic,
    PeriodicMetrics,
    NodeServer,
    NodeAgent,
  ])
    bind<object>(part).toSelf().inSingletonScope();
  bind(ManagementClient).toService(HttpsManagementClient);
  bind(ObservedReporter).toService(HeartbeatService);
};
