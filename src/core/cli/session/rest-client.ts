import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import type { Readable } from 'node:stream';
import type { Method } from '../../../rest/rest-call';
import { failureOf } from '../cli-failure';
import type { Profile } from './profile-store';
import { tlsOptions } from './server-trust';

export type Query = Record<string, string | number | boolean | undefined>;

export interface Call {
  method: Uppercase<Method>;
  /** Below `root`. */
  path: string;
  /** `/api/v1` when missing. */
  root?: string;
  query?: Query | undefined;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is, instead of `body`. */
  stream?: { content: Readable; bytes: number };
  bearer?: string | undefined;
  idempotencyKey?: string | undefined;
  /** The answer's bytes are wanted as they are: a picture, say. */
  asBytes?: boolean;
  /** Takes the answer's bytes as they come, instead of having them returned, when it is no refusal. */
  into?: (response: IncomingMessage) => Promise<void>;
  /** Header `Range`. */
  range?: string;
  /** Milliseconds of silence after which it is given up. Default 120,000. */
  idleMs?: number;
}

const maxAnswerBytes = 64 * 1024 * 1024;
const connectMs = 10_000;

/**
 * HTTPS with the profile's trust. Built on Node's own client, which is there at once: a command line tool is started
 * for every call, and a larger client takes longer to load than the call to run.
 */
export class RestClient {
  private readonly agent: Agent;

  constructor(private readonly profile: Pick<Profile, 'url' | 'ca' | 'pinned'>) {
    this.agent = new Agent({ keepAlive: true, maxSockets: 8, ...tlsOptions(profile) });
  }

  /** The answer's JSON, or its bytes; undefined when it has no body. Throws `CliFailure` for an answer of 400 or more. */
  async call<T>(call: Call): Promise<T> {
    const url = new URL(`${this.profile.url}${call.root ?? '/api/v1'}${call.path}`);
    for (const [name, value] of Object.entries(call.query ?? {}))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const json = call.stream || call.body === undefined ? undefined : Buffer.from(JSON.stringify(call.body), 'utf8');
    const response = await this.send(url, call, json);
    const status = response.statusCode ?? 0;
    if (call.into && status < 400) return (await call.into(response)) as T;
    const bytes = await readAll(response);
    if (call.asBytes === true && status < 400) return bytes as T;
    const value = parseBody(bytes.toString('utf8'), String(response.headers['content-type'] ?? ''));
    if (status >= 400) throw failureOf(status, value);
    return value as T;
  }

  close(): void {
    this.agent.destroy();
  }

  private send(url: URL, call: Call, json: Buffer | undefined): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const outgoing = request(url, {
        agent: this.agent,
        method: call.method,
        headers: {
          accept: call.asBytes === true || call.into ? '*/*' : 'application/json',
          'user-agent': 'vcctl',
          ...(call.bearer !== undefined && { authorization: `Bearer ${call.bearer}` }),
          ...(call.idempotencyKey !== undefined && { 'idempotency-key': call.idempotencyKey }),
          ...(call.range !== undefined && { range: call.range }),
          ...(json && { 'content-type': 'application/json', 'content-length': json.length }),
          ...(call.stream && { 'content-type': 'application/octet-stream', 'content-length': call.stream.bytes }),
        },
      });
      const connecting = setTimeout(() => outgoing.destroy(timedOut(url)), connectMs);
      const connected = (): void => clearTimeout(connecting);
      outgoing.on('socket', (socket) => (socket.connecting ? socket.once('secureConnect', connected) : connected()));
      outgoing.on('close', connected);
      outgoing.setTimeout(call.idleMs ?? 120_000, () => outgoing.destroy(timedOut(url)));
      outgoing.once('response', (response) => {
        // The server may refuse before it has read an upload to its end: stop sending, but keep the request until the
        // answer has been read.
        call.stream?.content.unpipe(outgoing);
        call.stream?.content.destroy();
        response.once('close', () => (outgoing.writableEnded ? undefined : outgoing.destroy()));
        resolve(response);
      });
      outgoing.once('error', reject);
      if (call.stream) {
        call.stream.content.once('error', (error) => outgoing.destroy(error));
        call.stream.content.pipe(outgoing);
      } else outgoing.end(json);
    });
  }
}

const timedOut = (url: URL): Error =>
  Object.assign(new Error(`${url.origin} did not answer in time`), { code: 'ETIMEDOUT' });

const readAll = async (response: IncomingMessage): Promise<Buffer> => {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > maxAnswerBytes) throw new Error('the answer is too large');
    parts.push(part);
  }
  return Buffer.concat(parts);
};

const parseBody = (text: string, type: string): unknown => {
  if (text === '' || !/json/.test(type)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
