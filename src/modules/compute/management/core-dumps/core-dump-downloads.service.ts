import type { ServerResponse } from 'node:http';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { injectable } from 'inversify';
import type { Logger } from 'pino';
import type { Access } from '../../../../core/auth/access';
import { Channels } from '../../../../core/auth/channels/channels';
import { credentialOf } from '../../../../core/auth/principal';
import { PermissionCatalogue } from '../../../../core/auth/permissions/permission-catalogue';
import type { Op } from '../../../../core/db/rows/op';
import { notFound, Problem } from '../../../../core/errors/problem';
import { NodeCaller, NodeVerbError } from '../../../../core/m2m/management/node-caller';
import { Logging } from '../../../../core/telemetry/logging';
import type { CoreDumpFile } from '../../contract/core-dumps';
import { InstanceEvents } from '../instances/instance.events';
import { InstanceService } from '../instances/instance.service';
import { CoreDumps, hostProblem, placed } from './core-dumps.service';

/** Milliseconds without a byte on the way, after which a download ends. */
const idleMs = 60_000;

/** What is asked for, and whither it goes. */
export interface Download {
  op: Op;
  access: Access;
  projectId: string | undefined;
  ref: string;
  dumpId: string;
  /** The header `Range`. Only one that goes on to the end (`bytes=1000-`) is taken up; of others all comes. */
  range: string | undefined;
  requestId: string;
  res: ServerResponse;
}

/** Core dumps on their way from their hosts to users: never stored here, and no faster than they are taken. */
@injectable()
export class CoreDumpDownloads {
  private readonly log: Logger;

  constructor(
    private readonly dumps: CoreDumps,
    private readonly instances: InstanceService,
    private readonly nodes: NodeCaller,
    private readonly channels: Channels,
    private readonly permissions: PermissionCatalogue,
    private readonly events: InstanceEvents,
    logging: Logging,
  ) {
    this.log = logging.for('core-dumps');
  }

  /**
   * Answers with the file, or from an offset on. It ends at once when the caller's right to it does. 404, 409
   * `instance_has_no_host`, 416, 429 or 503 `too_many_streams`, 503 `host_unreachable`.
   */
  async send(download: Download): Promise<void> {
    const { op, access, projectId, ref, dumpId, requestId, res } = download;
    const instance = placed(await this.instances.pick(op, access, projectId, ref));
    const dump = await this.dumps.one(instance, dumpId, requestId);
    const from = offsetOf(download.range, dump.bytes);
    const { principal, permission } = access;
    const ended = new AbortController();
    const channel = await this.channels.open(
      {
        kind: 'download',
        credential: credentialOf(principal),
        subject: { kind: 'instance', id: instance.id },
        allows: (now) => {
          const projects = this.permissions.allowedProjects(now, permission);
          return projects === 'all' || projects.includes(instance.projectId);
        },
      },
      { end: () => ended.abort() },
    );
    try {
      const path = `/streams/instances/${instance.id}/core-dumps/${dump.id}/${from ?? 0}`;
      const line = await this.nodes.stream(instance.hostId, path).catch((error: unknown) => {
        if (error instanceof NodeVerbError && error.code === 'core_dump_absent') throw notFound('core dump', dumpId);
        throw hostProblem(error, instance.state);
      });
      line.on('error', () => undefined);
      try {
        const what = { coreDumpId: dump.id, userId: principal.id, bytes: dump.bytes, format: dump.format };
        await this.events.coreDump(op, 'core-dump-downloaded', instance, what);
        this.log.info({ requestId, instanceId: instance.id, from, ...what }, 'a core dump is downloaded');
        const bytes = dump.bytes - (from ?? 0);
        res.writeHead(from === undefined ? 200 : 206, headersOf(instance.name, dump, from));
        await pipeline(line, counted(bytes, ended), res, { signal: ended.signal });
      } catch (error) {
        if (!res.headersSent) throw error;
        // Too late for another answer: its length tells the reader that not all has come.
        res.destroy();
        this.log.info({ requestId, instanceId: instance.id, coreDumpId: dump.id, err: error }, 'a download was cut');
      } finally {
        line.destroy();
      }
    } finally {
      channel.close();
    }
  }
}

/** Undefined for all of it. Throws 416 for what lies behind its end. */
const offsetOf = (range: string | undefined, bytes: number): number | undefined => {
  const asked = /^bytes=(\d{1,15})-$/.exec(range ?? '')?.[1];
  if (asked === undefined) return undefined;
  if (Number(asked) < bytes) return Number(asked);
  throw new Problem({
    status: 416,
    code: 'range_not_satisfiable',
    detail: `It has ${bytes} bytes, none of which lies at ${asked} or behind.`,
    extra: { bytes },
  });
};

const headersOf = (
  name: string,
  { id, format, bytes }: CoreDumpFile,
  from: number | undefined,
): Record<string, string> => ({
  'content-type': 'application/octet-stream',
  'content-length': String(bytes - (from ?? 0)),
  'content-disposition': `attachment; filename="${name}-${id}.${format}"`,
  'accept-ranges': 'bytes',
  'cache-control': 'no-store, no-transform',
  ...(from !== undefined && { 'content-range': `bytes ${from}-${bytes - 1}/${bytes}` }),
});

/** Passes so many bytes, and fails of fewer and of more, and when none come or are taken for a while. */
const counted = (bytes: number, idle: AbortController): Transform => {
  let left = bytes;
  const timer = setTimeout(() => idle.abort(new Error('nothing moved')), idleMs);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      timer.refresh();
      left -= chunk.length;
      done(left < 0 ? new Error('its host sends more than it has') : null, chunk);
    },
    flush(done) {
      done(left > 0 ? new Error('its host sends less than it has') : null);
    },
    destroy(error, done) {
      clearTimeout(timer);
      done(error);
    },
  });
};
