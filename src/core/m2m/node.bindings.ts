import type { ContainerModuleLoadOptions } from 'inversify';
import { RecordProblems } from '../host/records/record-problems';
import { EventSender } from './node/event-sender';
import { HeartbeatService } from './node/heartbeat.service';
import { HttpsManagementClient } from './node/https-management-client';
import { JournalKeeper } from './node/journal-keeper';
import { ManagementAddresses } from './node/management-addresses';
import { NodeAgent } from './node/node-agent';
import { NodeIdentity } from './node/node-identity';
import { NodeServer } from './node/node-server';
import { RevisionsSource } from './node/revisions.source';
import { ManagementClient } from './node-route';
import { ObservedReporter } from './observed';

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
    NodeServer,
    NodeAgent,
  ])
    bind<object>(part).toSelf().inSingletonScope();
  bind(ManagementClient).toService(HttpsManagementClient);
  bind(ObservedReporter).toService(HeartbeatService);
};
