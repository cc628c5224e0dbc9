import { get as httpsGet, request as httpsRequest, type RequestOptions } from 'node:https';
import type { ClientRequest } from 'node:http';
import { io } from 'socket.io-client';
import { WebSocket } from 'ws';
import type { ApiClient } from '../support/api-client';

/** One long-lived channel of a test. */
export class OpenChannel {
  /**
   * What its user is told when it ends: the `code` of an event or problem, or the reason of a WebSocket; `cut` without
   * a word.
   */
  readonly ended: Promise<string>;
  over: string | undefined;
  /** Text that came. */
  received = '';
  /** How often live events have said that their user sees more or less than before. */
  rights = 0;

  constructor(
    readonly kind: string,
    begin: (end: (code: string) => void, channel: OpenChannel) => void,
  ) {
    this.ended = new Promise((resolve) =>
      begin((code) => {
        this.over ??= code;
        resolve(this.over);
      }, this),
    );
  }

  close: () => void = () => undefined;
  send: (text: string) => void = () => undefined;
}

const optionsOf = (client: ApiClient, path: string): [string, RequestOptions] => [
  `${client.url}/api/v1${path}`,
  { rejectUnauthorized: false, agent: false, headers: { authorization: `Bearer ${client.token}` } },
];

const codeOf = (text: string): string => /"code":"([a-z_]+)"/.exec(text)?.[1] ?? 'cut';

const answered = (kind: string, request: ClientRequest, end: (code: string) => void): void => {
  let text = '';
  request.on('response', (res) => {
    res.on('data', (chunk: Buffer) => (text += chunk.toString()));
    res.on('error', () => undefined);
    res.on('close', () => end(`${kind === 'wait' && res.statusCode === 200 ? 'answered' : codeOf(text)}`));
  });
  request.on('error', () => end(codeOf(text)));
};

/** A serial console or a screen, by ticket. Resolves when it is open, or was refused. */
export const openConsole = async (client: ApiClient, path: string, kind = 'console'): Promise<OpenChannel> => {
  const socket = new WebSocket(`${client.url.replace('https', 'wss')}${path}`, { rejectUnauthorized: false });
  const channel = new OpenChannel(kind, (end, own) => {
    socket.on('message', (data: Buffer) => (own.received += data.toString()));
    socket.on('close', (_code: number, reason: Buffer) => end(reason.toString() || 'cut'));
    socket.on('unexpected-response', (_req, res) => end(String(res.statusCode)));
    socket.on('error', () => end('cut'));
  });
  channel.close = () => socket.terminate();
  channel.send = (text) => socket.send(Buffer.from(text));
  await Promise.race([new Promise((resolve) => socket.on('open', resolve)), channel.ended]);
  return channel;
};

/** Live events by Server-Sent Events. */
export const openEvents = (client: ApiClient, query: string): Promise<OpenChannel> =>
  new Promise((resolve, reject) => {
    const channel = new OpenChannel('events', (end, own) => {
      const request = httpsGet(...optionsOf(client, `/events${query}`), (res) => {
        res.on('data', (chunk: Buffer) => {
          own.received += chunk.toString();
          if (own.received.includes('event: ready')) resolve(channel);
        });
        res.on('error', () => undefined);
        res.on('close', () => end(/event: end\ndata: \{"code":"([a-z_]+)"/.exec(own.received)?.[1] ?? 'cut'));
      });
      request.on('error', reject);
      own.close = () => request.destroy();
    });
  });

/** Live events by socket.io. */
export const openLive = (client: ApiClient): Promise<OpenChannel> =>
  new Promise((resolve, reject) => {
    const socket = io(client.url, {
      path: '/api/v1/live',
      auth: { token: client.token },
      transports: ['websocket'],
      rejectUnauthorized: false,
      reconnection: false,
      forceNew: true,
    });
    const channel = new OpenChannel('live', (end, own) => {
      let said = 'cut';
      socket.on('event', (event: unknown) => (own.received += JSON.stringify(event)));
      socket.on('rights', () => (own.rights += 1));
      socket.on('end', ({ code }: { code: string }) => (said = code));
      socket.on('disconnect', () => end(said));
      own.close = () => socket.disconnect();
    });
    socket.on('ready', () => resolve(channel));
    socket.on('connect_error', reject);
  });

/** An upload that sends its first bytes and then no more. Resolves once the image says that it is being uploaded. */
export const openUpload = async (client: ApiClient, project: string, name: string): Promise<OpenChannel> => {
  const image = await client.ok('POST', `/images?project=${project}`, { name });
  const [url, options] = optionsOf(client, `/images/${image.id}/content`);
  const request = httpsRequest(url, { ...options, method: 'PUT' });
  const channel = new OpenChannel('upload', (end, own) => {
    answered('upload', request, end);
    own.close = () => request.destroy();
  });
  request.write(Buffer.alloc(4096));
  while (channel.over === undefined && (await client.ok('GET', `/images/${image.id}`)).state !== 'uploading')
    await new Promise((resolve) => setTimeout(resolve, 10));
  return channel;
};

/** A request that is held until a task has settled. */
export const openWait = (client: ApiClient, taskId: string): OpenChannel => {
  const [url, options] = optionsOf(client, `/tasks/${taskId}?wait=60s`);
  const request = httpsGet(url, options);
  return new OpenChannel('wait', (end, own) => {
    answered('wait', request, end);
    own.close = () => request.destroy();
  });
};
