import { injectable } from 'inversify';
import { pipeline } from 'node:stream';
import { StreamHandlers, type StreamHandler } from '../../../../core/m2m/management/node-route';
import { coreDumpAbsent, CoreDumpStore } from './core-dump-store';

/** Milliseconds without a byte taken, after which whoever reads is gone. */
const idleMs = 120_000;
const isId = (text: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);

/** The bytes of core dumps, from an offset to their end. They are read no faster than management takes them. */
@injectable()
export class CoreDumpStreams extends StreamHandlers {
  constructor(private readonly store: CoreDumpStore) {
    super();
  }

  override streams(): StreamHandler[] {
    return [
      {
        path: '/streams/instances/:id/core-dumps/:dump/:offset',
        open: async ({ id = '', dump = '', offset = '' }) => {
          if (!isId(id) || !isId(dump) || !/^\d{1,15}$/.test(offset)) throw coreDumpAbsent();
          const file = await this.store.open(id, dump);
          return (stream) => {
            if ('setTimeout' in stream && typeof stream.setTimeout === 'function')
              (stream.setTimeout as (ms: number, then: () => void) => void)(idleMs, () => stream.destroy());
            pipeline(
              file.createReadStream({ start: Number(offset), highWaterMark: 1024 * 1024 }),
              stream,
              () => undefined,
            );
          };
        },
      },
    ];
  }
}
