import type { Socket } from 'node:net';
import { connectOwned } from '../../../../../core/host/files/owned-socket';
import { QmpError } from './qmp-error';

export interface QmpEvent {
  event: string;
  /** Milliseconds since 1970, as QEMU says. */
  at: number;
  data: Record<string, unknown>;
}

interface Pending {
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
  timer: NodeJS.Timeout;
}

/** What a message of a monitor tells by itself; null when it is an answer. */
export const qmpEvent = (message: Record<string, unknown>): QmpEvent | null => {
  const { event, data, timestamp } = message;
  if (typeof event !== 'string') return null;
  const { seconds, microseconds } = (timestamp ?? {}) as { seconds?: number; microseconds?: number };
  const at = (seconds ?? 0) * 1000 + Math.floor((microseconds ?? 0) / 1000);
  return { event, at, data: (data ?? {}) as Record<string, unknown> };
};

/** Longest message accepted, in bytes: QEMU's largest answers are a few hundred kB. */
const longestLine = 8 * 1024 * 1024;

/**
 * One connection to a QEMU monitor (QMP over a Unix socket): greeting, capabilities, commands with a deadline, events.
 * A monitor socket serves one client at a time; a second one waits until the first is gone.
 */
export class QmpClient {
  private readonly pending = new Map<number, Pending>();
  private readonly listeners = new Set<(event: QmpEvent) => void>();
  private buffer = '';
  private nextId = 1;
  private open = true;
  /** Resolves when the connection is lost or closed. */
  readonly closed: Promise<void>;

  private constructor(private readonly socket: Socket) {
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => this.receive(chunk));
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.open = false;
        for (const waiting of this.pending.values()) {
          clearTimeout(waiting.timer);
          waiting.reject(new QmpError('ConnectionLost', 'the monitor was closed'));
        }
        this.pending.clear();
        resolve();
      });
    });
  }

  /**
   * Connects to the monitor of that user's VMM and negotiates within `timeoutMs`. Throws `QmpError` (`ConnectionLost`,
   * `Timeout`).
   */
  static async connect(path: string, user: number, timeoutMs: number): Promise<QmpClient> {
    const client = await QmpClient.open(path, user);
    try {
      await client.negotiate(timeoutMs);
      return client;
    } catch (error) {
      client.close();
      throw error;
    }
  }

  /**
   * One command on a connection of its own. It is sent together with the negotiation: a monitor reads in order, and one
   * whose guest keeps QEMU's main loop busy takes its time for every round. Throws as `connect` and `execute` do, when
   * there is no answer within `timeoutMs` altogether too.
   */
  static async ask<T = unknown>(path: string, user: number, command: string, timeoutMs: number): Promise<T> {
    const client = await QmpClient.open(path, user);
    try {
      const [, answer] = await Promise.all([
        client.negotiate(timeoutMs),
        client.execute<T>(command, undefined, timeoutMs),
      ]);
      return answer;
    } finally {
      client.close();
    }
  }

  private static async open(path: string, user: number): Promise<QmpClient> {
    const socket = await connectOwned(path, user).catch((error: Error) => {
      throw new QmpError('ConnectionLost', `no monitor answers at ${path}: ${error.message}`);
    });
    return new QmpClient(socket);
  }

  /**
   * Runs one command. Throws `QmpError` with QEMU's class and text, or `Timeout` after `timeoutMs` (the command may
   * still take effect).
   */
  execute<T = unknown>(command: string, args?: Record<string, unknown>, timeoutMs = 5000): Promise<T> {
    if (!this.open) return Promise.reject(new QmpError('ConnectionLost', 'the monitor was closed'));
    const id = this.nextId++;
    return new Promise<T>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.pending.delete(id);
        reject(new QmpError('Timeout', `${command} was not answered within ${timeoutMs} ms`));
      }, timeoutMs);
      this.pending.set(id, { resolve: (value) => resolve(value as T), reject, timer });
      this.socket.write(`${JSON.stringify({ execute: command, ...(args && { arguments: args }), id })}\n`);
    });
  }

  /** Calls `listener` for every event until the returned function is called. */
  onEvent(listener: (event: QmpEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  close(): void {
    this.socket.destroy();
  }

  /** A monitor takes no other command before. It may be sent before the greeting has come. */
  private negotiate(timeoutMs: number): Promise<unknown> {
    return this.execute('qmp_capabilities', undefined, timeoutMs);
  }

  private receive(chunk: string): void {
    this.buffer += chunk;
    for (let end = this.buffer.indexOf('\n'); end >= 0; end = this.buffer.indexOf('\n')) {
      const line = this.buffer.slice(0, end).trim();
      this.buffer = this.buffer.slice(end + 1);
      if (line !== '') this.dispatch(line);
    }
    if (this.buffer.length > longestLine) this.close();
  }

  private dispatch(line: string): void {
    let message: Record<string, unknown>;
    try {
      message = JSON.parse(line) as Record<string, unknown>;
    } catch {
      return this.close();
    }
    // The greeting, which the answer to the negotiation says as well.
    if ('QMP' in message) return;
    const event = qmpEvent(message);
    if (event) {
      for (const listener of [...this.listeners]) listener(event);
      return;
    }
    const waiting = this.pending.get(Number(message['id']));
    if (!waiting) return;
    this.pending.delete(Number(message['id']));
    clearTimeout(waiting.timer);
    const error = message['error'] as { class?: string; desc?: string } | undefined;
    if (error) waiting.reject(new QmpError(error.class ?? 'GenericError', error.desc ?? 'unknown error'));
    else waiting.resolve(message['return']);
  }
}
