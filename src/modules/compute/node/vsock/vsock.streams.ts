import { injectable } from 'inversify';
import { pipeline } from 'node:stream';
import { StreamHandlers, type StreamHandler } from '../../../../core/m2m/management/node-route';
import { InstanceVsocks } from './instance-vsocks';

/** Streams to ports of guests: each a connection of its own. Neither side is read faster than the other one takes it. */
@injectable()
export class VsockStreams extends StreamHandlers {
  constructor(private readonly vsocks: InstanceVsocks) {
    super();
  }

  override streams(): StreamHandler[] {
    return [
      {
        path: '/streams/instances/:id/vsock/:port',
        open: async ({ id = '', port = '' }) => {
          const guest = await this.vsocks.connect(id, /^\d{1,10}$/.test(port) ? Number(port) : Number.NaN);
          return (stream) => pipeline(stream, guest, stream, () => undefined);
        },
      },
    ];
  }
}
