import { injectable } from 'inversify';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream';
import { StreamHandlers, type StreamHandler } from '../../../../core/m2m/management/node-route';
import { VerbFailure } from '../../../../core/m2m/verbs/verb-handler';
import { InstanceManager } from '../instances/instance.manager';
import { InstanceStore } from '../instances/instance-store';
import { ConsoleHub } from './console.hub';
import { InstanceScreens } from './instance-screens';

/** What viewers see of instances, and what they type: the serial line, which they share here, and the screen, which they share at its VMM. */
@injectable()
export class ConsoleStreams extends StreamHandlers {
  constructor(
    private readonly hub: ConsoleHub,
    private readonly screens: InstanceScreens,
    private readonly instances: InstanceManager,
    private readonly store: InstanceStore,
  ) {
    super();
  }

  override streams(): StreamHandler[] {
    return [
      {
        path: '/streams/instances/:id/console',
        open: async ({ id = '' }) => {
          if (!this.instances.has(id))
            throw new VerbFailure('instance_absent', 'This host does not have the instance.', true);
          return (stream) => this.hub.view(id, stream, this.store.directory(id));
        },
      },
      { path: '/streams/instances/:id/vnc', open: async ({ id = '' }) => this.screen(id) },
    ];
  }

  /** Each viewer has a connection of its own to the VMM. Neither side is read faster than the other one takes it. */
  private async screen(id: string): Promise<(stream: Duplex) => void> {
    const screen = await this.screens.connect(id);
    return (stream) => pipeline(stream, screen, stream, () => undefined);
  }
}
