import { injectable } from 'inversify';
import { StreamHandlers, type StreamHandler } from '../../../../core/m2m/management/node-route';
import { ConsoleHub } from './console.hub';
import { InstanceManager } from '../instances/instance.manager';
import { InstanceStore } from '../instances/instance-store';

@injectable()
export class ConsoleStreams extends StreamHandlers {
  constructor(
    private readonly hub: ConsoleHub,
    private readonly instances: InstanceManager,
    private readonly store: InstanceStore,
  ) {
    super();
  }

  override streams(): StreamHandler[] {
    return [
      {
        path: '/streams/instances/:id/console',
        open: async (params, stream) => {
          const id = params['id'] ?? '';
          if (!this.instances.has(id)) {
            stream.end('\r\n[this host does not have the instance]\r\n');
            return;
          }
          this.hub.view(id, stream, this.store.directory(id));
        },
      },
    ];
  }
}
