import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connectOwned } from '../../../../../core/host/owned-socket';
import { QmpError } from './qmp-error';

export interface QmpEvent {
  event: string;
  data: Record<string, unknown>;
}

interface Pending {
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
  timer: NodeJS.Timeout;
}

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
  private greeted: (() => void) | null = null;
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

  /** Connects to the monitor of that user's VMM and negotiates within `timeoutMs`. Throws `QmpError` (`ConnectionLost`, `Timeout`). */
  static async connect(path: string, user: number, timeoutMs: number): Promise<QmpClient> {
    const socket = await connectOwned(path, user).catch((error: Error) => {
      throw new QmpError('ConnectionLost', `no monitor answers at ${path}: ${error.message}`);
    });
    const client = new QmpClient(socket);
    const greeting = new Promise<void>((resolve) => (client.greeted = resolve));
    const end = new AbortController();
    try {
      const outcome = await Promise.race([
        greeting.then(() => 'greeted' as const),
        client.closed.then(() => 'closed' as const),
        delay(timeoutMs, 'timeout' as const, { signal: end.signal }).catch(() => 'timeout' as const),
      ]);
      if (outcome === 'closed') throw new QmpError('ConnectionLost', `no monitor answers at ${path}`);
      if (outcome === 'timeout') throw new QmpError('Timeout', `the monitor at ${path} did not greet within ${timeoutMs} ms`);
      await client.execute('qmp_capabilities', undefined, timeoutMs);
      return client;
    } catch (error) {
      client.close();
      throw error;
    } finally {
      end.abort();
    }
  }

  /** Runs one command. Throws `QmpError` with QEMU's class and text, or `Timeout` after `timeoutMs` (the command may still take effect). */
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
    if ('QMP' in message) return this.greeted?.();
    if (typeof message['event'] === 'string') {
      const event = { event: message['event'], data: (message['data'] ?? {}) as Record<string, unknown> };
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
