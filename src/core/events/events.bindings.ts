import type { ContainerModuleLoadOptions } from 'inversify';
import { EventDispatcher } from './event-dispatcher';
import { PermissionCatalogue } from '../auth/permissions/permission-catalogue';
import { EventSource } from './event-source';
import { EventStreams } from './event-streams.service';
import { EventVisibility } from './event-visibility';
import { EventsController } from './events.controller';
import { LiveGateway } from './live-gateway';
import { Outbox } from './outbox';
import { OutboxRepository } from './outbox.repository';
import { PostgresOutbox } from './postgres-outbox';

/**
 * Live events of the management role. Services to start after the HTTP server is mounted: EventDispatcher, LiveGateway.
 * Controller: EventsController.
 */
export const bindEvents = ({ bind }: ContainerModuleLoadOptions): void => {
  bind(EventVisibility)
    .toDynamicValue(({ get }) => new EventVisibility(get(PermissionCatalogue)))
    .inSingletonScope();
  bind(Outbox).to(PostgresOutbox).inSingletonScope();
  for (const service of [OutboxRepository, EventSource, EventDispatcher, EventStreams, EventsController, LiveGateway])
    bind<object>(service).toSelf().inSingletonScope();
};
