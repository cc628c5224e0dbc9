import type { ContainerModuleLoadOptions } from 'inversify';
import { Breakers } from './breakers';
import { CaRepository } from '../ca/ca.repository';
import { CertificateAuthority } from '../ca/certificate-authority';
import { ServerIdentity } from '../ca/server-identity';
import { CertificateUpkeep } from '../ca/certificate-upkeep';
import { HttpsNodeCaller } from './https-node-caller';
import { ManagementEndpoint } from '../management-endpoint';
import { NodeCaller } from './node-caller';
import { KnownSections } from '../reports/known-sections';
import { EnrolmentRoutes } from './gateway/enrolment.routes';
import { HeartbeatRoutes } from './gateway/heartbeat.routes';
import { NodeGateway } from './gateway/node-gateway';
import { TaskRoutes } from './gateway/task.routes';

/**
 * The transport's management half. Needs `NodeRegistry` (host module) and `VerbEvents` and `LiveTasks` (workflow
 * engine) bound as well.
 */
export const bindManagementTransport = ({ bind }: Pick<ContainerModuleLoadOptions, 'bind'>): void => {
  for (const part of [
    CaRepository,
    CertificateAuthority,
    ServerIdentity,
    CertificateUpkeep,
    Breakers,
    ManagementEndpoint,
    HttpsNodeCaller,
    EnrolmentRoutes,
    HeartbeatRoutes,
    KnownSections,
    TaskRoutes,
    NodeGateway,
  ])
    bind<object>(part).toSelf().inSingletonScope();
  bind(NodeCaller).toService(HttpsNodeCaller);
};
