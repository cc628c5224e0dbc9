import type { ContainerModuleLoadOptions } from 'inversify';
import { BearerAuthentication } from '../auth/bearer-authentication';
import { ChannelTicketRepository } from '../auth/channel-ticket.repository';
import { ChannelTickets } from '../auth/channel-tickets';
import { Channels } from '../auth/channels';
import { ConsoleAssets } from './console-assets';
import { HealthChecks } from './health-checks';
import { HttpServer } from './http-server';
import { IdempotencyRepository } from './idempotency.repository';
import { SecretLimiter } from './secret-limiter';
import { RequestObserver } from './request-observer';
import { RouteRunner } from './route-runner';
import { SocketGateway } from './socket-gateway';

/** The management role's HTTP side. Needs Config, Logging, Metrics, Database, RedisClients, PermissionCatalogue and an Authenticator. */
export const bindHttp = ({ bind }: ContainerModuleLoadOptions): void => {
  for (const service of [
    BearerAuthentication,
    Channels,
    ChannelTicketRepository,
    ChannelTickets,
    ConsoleAssets,
    HealthChecks,
    HttpServer,
    IdempotencyRepository,
    SecretLimiter,
    RequestObserver,
    RouteRunner,
    SocketGateway,
  ]) {
    bind<object>(service).toSelf().inSingletonScope();
  }
};
