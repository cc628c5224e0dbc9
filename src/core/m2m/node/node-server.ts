import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { injectable } from 'inversify';
import type { Logger } from 'pino';
import type { z } from 'zod';
import { Config } from '../../config/config';
import { StatePaths } from '../../config/state-paths';
import { RecordProblems } from '../../host/records/record-problems';
import { Logging } from '../../telemetry/logging';
import { ConnectionGuard, endWithUnreadBody, guardedOptions } from '../../http/server/connection-guard';
import { targetOf } from '../../http/server/request-target';
import { readJson, sendJson } from '../json-body';
import type { StreamHandler, StreamHandlers } from '../management/node-route';
import { PathPattern } from '../management/path-pattern';
import { peerOf } from '../peer-identity';
import type { AnyVerb } from '../verbs/verb';
import { VerbFailure, type VerbHandlers } from '../verbs/verb-handler';
import { EventSender } from './event-sender';
import { JournalKeeper } from './journal-keeper';
import { NodeIdentity } from './node-identity';
import { minVersion } from './secure-context';
import { VerbJournal } from './verb-journal';
import { type VerbAnswer, verbCall, verbCalls, VerbRunner } from './verb-runner';

/** A host's network document may be long. */
const bodyLimit = 32 * 1024 * 1024;
/** A connection on which nothing moves for so long ends; streams are not of these. */
const silentMs = 120_000;
const stopTimeoutMs = 10_000;

/** Port 8444 of a node: runs verbs and opens byte streams, for management of its installation only. */
@injectable()
export class NodeServer {
  private readonly log: Logger;
  private readonly journalDir: string;
  private readonly journal: VerbJournal;
  private readonly runner: VerbRunner;
  private readonly streams: { pattern: PathPattern; handler: StreamHandler }[] = [];
  private readonly upgraded = new Set<Duplex>();
  private server: Server | undefined;

  constructor(
    private readonly identity: NodeIdentity,
    private readonly config: Config,
    paths: StatePaths,
    events: EventSender,
    private readonly keeper: JournalKeeper,
    private readonly problems: RecordProblems,
    logging: Logging,
  ) {
    this.log = logging.for('node');
    this.journalDir = paths.stateDir('journal');
    this.journal = new VerbJournal({ dir: this.journalDir });
    this.runner = new VerbRunner(this.journal, events, this.log, {
      acceptAfterMs: config.core.m2m.acceptAfterMs,
      liveTasks: (tasks) => keeper.liveTasks(tasks),
    });
    identity.onChange(() => this.useIdentity());
  }

  /**
   * Before `start`. Throws when a verb or stream path has two handlers.
   * @param contract the declared verbs: each must have a handler, and no other verb may have one
   */
  register(handlers: VerbHandlers[], streams: StreamHandlers[], contract?: readonly AnyVerb[]): void {
    this.runner.register(handlers, contract);
    for (const handler of streams.flatMap((s) => s.streams())) {
      if (this.streams.some((s) => s.pattern.pattern === handler.path))
        throw new Error(`the stream "${handler.path}" has two handlers`);
      this.streams.push({ pattern: new PathPattern(handler.path), handler });
    }
  }

  /** The newest revision of each verb that has a handler. */
  verbRevisions(): Record<string, number> {
    return this.runner.revisions();
  }

  /** Opens the journal and binds the port; connections succeed once there is an identity. Returns the bound port. */
  async listen(): Promise<number> {
    const opened = await this.journal.open();
    if (opened.tornBytes > 0)
      this.log.warn(opened, 'the journal ended in an unfinished record, as a crash leaves it; it was cut off');
    if (opened.damaged > 0 || opened.emptied)
      this.log.error(
        opened,
        'the journal is damaged: results that it held are lost, and calls that ask for them run again. Check the disk of this host',
      );
    const lost = opened.newer ? 'is of a newer agent' : opened.damaged > 0 || opened.emptied ? 'is damaged' : '';
    if (lost !== '')
      this.problems.note(
        this.journalDir,
        opened.newer ? 'newer' : 'lost',
        `the journal ${lost}: results that it held are lost, and calls that ask for them run again`,
      );
    const { limits } = this.config.core;
    const server = createServer(
      {
        ...guardedOptions(limits),
        requestTimeout: limits.bodyMs,
        requestCert: true,
        rejectUnauthorized: true,
        minVersion,
      },
      (req, res) => void this.answer(req, res),
    );
    server.on('upgrade', (req: IncomingMessage, socket: Duplex, head: Buffer) => void this.upgrade(req, socket, head));
    server.on('tlsClientError', (error) => this.log.debug({ err: error }, 'a connection was refused'));
    server.timeout = silentMs;
    new ConnectionGuard(server, limits);
    server.prependListener('request', endWithUnreadBody);
    this.server = server;
    const { listen, port } = this.config.core.compute;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, listen, () => {
        server.removeListener('error', reject);
        resolve();
      });
    });
    return (server.address() as AddressInfo).port;
  }

  /** Asks management what of the journal may go. Once there is an identity. */
  tidyJournal(quietMs?: number): Promise<void> {
    return this.keeper.round(this.journal, quietMs);
  }

  /** Uses the present certificate for new connections. */
  useIdentity(): void {
    const { key, certificate, root } = this.identity.current();
    this.server?.setSecureContext({ key, cert: certificate, ca: root, minVersion });
  }

  /** Refuses new calls, lets running ones end for a while, closes. VMs are not touched. May be called again. */
  async stop(): Promise<void> {
    const server = this.server;
    if (!server) return;
    this.server = undefined;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    await this.runner.stop(stopTimeoutMs);
    for (const stream of this.upgraded) stream.destroy();
    server.closeAllConnections();
    await closed;
    await this.journal.close();
  }

  private async answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    try {
      if (!isManagement(req)) return sendError(res, 403, 'forbidden', 'Only management may call a node.');
      const { path, search } = targetOf(req);
      const query = new URLSearchParams(search);
      if (req.method === 'GET' && path === '/verbs/outcome')
        return sendAnswer(res, this.runner.outcome(query.get('key') ?? ''));
      if (req.method === 'POST' && path === '/calls') {
        const several = verbCalls.safeParse(await readJson(req, bodyLimit));
        if (!several.success) return sendInvalid(res, several.error);
        const answers = (await this.runner.callInTurn(several.data)).map(inTurn);
        return sendJson(res, 200, { answers });
      }
      const name = path.startsWith('/verbs/') ? path.slice('/verbs/'.length) : '';
      if (req.method !== 'POST' || name === '') return sendError(res, 404, 'not_found', 'There is no such path.');
      const body = verbCall.safeParse(await readJson(req, bodyLimit));
      if (!body.success) return sendInvalid(res, body.error);
      return sendAnswer(res, await this.runner.call(name, body.data));
    } catch (error) {
      this.log.warn({ err: error }, 'a call could not be read');
      if (!res.headersSent) sendError(res, 400, 'invalid_call', error instanceof Error ? error.message : 'unreadable');
    }
  }

  private async upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy());
    const refuse = (status: string, why: object | null = null): void => {
      const body = why === null ? '' : JSON.stringify(why);
      socket.end(
        `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
    };
    if (!isManagement(req)) return refuse('403 Forbidden');
    const path = pathOf(req);
    if (path === null) return refuse('400 Bad Request');
    for (const { pattern, handler } of this.streams) {
      const params = pattern.match(path);
      if (!params) continue;
      this.upgraded.add(socket);
      socket.once('close', () => this.upgraded.delete(socket));
      try {
        const join = await handler.open(params);
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: vc-stream\r\n\r\n');
        if (head.length > 0) socket.unshift(head);
        join(socket);
      } catch (error) {
        if (error instanceof VerbFailure) return refuse('409 Conflict', refusalOf(error));
        this.log.warn({ path, err: error }, 'a stream could not be opened');
        socket.destroy();
      }
      return;
    }
    refuse('404 Not Found');
  }
}

const pathOf = (req: IncomingMessage): string | null => {
  try {
    return targetOf(req).path;
  } catch {
    return null;
  }
};

/** The chain was verified by the handshake; here it is the role: another node's certificate is of the same root. */
const isManagement = (req: IncomingMessage): boolean =>
  peerOf(req.socket as TLSSocket)?.identity?.kind === 'management';

const refusalOf = ({ code, message, permanent, extra, detail }: VerbFailure): object => ({
  error: { code, message, permanent, extra, detail },
});

const sendError = (res: ServerResponse, status: number, code: string, message: string): void =>
  sendJson(res, status, { error: { code, message, permanent: true, extra: {} } });

const sendInvalid = (res: ServerResponse, error: z.ZodError): void =>
  sendError(res, 400, 'invalid_call', error.issues.map((i) => `${i.path.join('.')}: ${i.message}`).join('; '));

const inTurn = (answer: VerbAnswer & { ms: number }): Record<string, unknown> => {
  const { ms } = answer;
  if (answer.kind === 'done') return { ms, result: answer.result };
  return answer.kind === 'accepted' ? { ms, accepted: true } : { ms, error: answer.error };
};

const sendAnswer = (res: ServerResponse, answer: VerbAnswer): void => {
  if (answer.kind === 'done') return sendJson(res, 200, { result: answer.result });
  if (answer.kind === 'accepted') return sendJson(res, 202, { accepted: true });
  return sendJson(res, answer.error.permanent ? 422 : 503, { error: answer.error });
};
