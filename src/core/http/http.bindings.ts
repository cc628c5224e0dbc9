import type { ContainerModuleLoadOptions } from 'inversify';
import { BearerAuthentication } from '../auth/bearer-authentication';
import { ChannelTicketRepository } from '../auth/channels/channel-ticket.repository';
import { ChannelTickets } from '../auth/channels/channel-tickets';
import { Channels } from '../auth/channels/channels';
import { ConsoleAssets } from './server/console-assets';
import { HealthChecks } from './server/health-checks';
import { HttpServer } from './server/http-server';
import { IdempotencyRepository } from './routes/idempotency.repository';
import { RedisClients } from '../redis/redis-clients';
import { SecretLimiter } from './secret-limiter';
import { RequestObserver } from './server/request-observer';
import { RouteRunner } from './routes/route-runner';
import { SocketGateway } from './sockets/socket-gateway';

/** The management role's HTTP side. Needs Config, Logging, Metrics, Database, PermissionCatalogue and an Authenticator. */
export const bindHttp = ({ bind }: ContainerModuleLoadOptions): void => {
  for (const service of [
    BearerAuthentication,
    Channels,
    ChannelTicketRepository,
    ChannelTickets,
    ConsoleAssets,
    HealthChecks,
    HttpServer,
    RedisClients,
    IdempotencyRepository,
    SecretLimiter,
    RequestObserver,
    RouteRunner,
    SocketGateway,
  ]) {
    bind<object>(service).toSelf().inSingletonScope();
  }
};
