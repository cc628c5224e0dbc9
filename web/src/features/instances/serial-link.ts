import { api } from '../../lib/api';
import { Connection, type Attempt, type ConnectionState } from '../../lib/connection';
import { asApiError } from '../../lib/problem';
import type { ConsoleTicket } from '../../lib/types';

interface Handlers {
  onState: (state: ConnectionState) => void;
  /** Serial output. `first` marks the start of a new connection: the host then sends its kept output again. */
  onData: (bytes: Uint8Array, first: boolean) => void;
}

/**
 * Close codes that say no: the policy that forbids it (1008), and what the server keeps for itself (4401, 4403, 4404).
 */
const refusals = new Set([1008, 4401, 4403, 4404]);

/** What the server's reasons for ending a channel mean here. */
const reasons: Record<string, string> = {
  unauthenticated: 'Your session has ended.',
  forbidden: 'You may not use this console any more.',
  gone: 'The instance was deleted.',
  unavailable: 'Whether you may use this console cannot be verified at the moment.',
};

const socketUrl = ({ path, ticket }: ConsoleTicket): string => {
  const target = new URL(path.startsWith('/api/') ? path : `/api/v1${path}`, window.location.href);
  target.protocol = target.protocol === 'http:' ? 'ws:' : 'wss:';
  if (!target.searchParams.has('ticket')) target.searchParams.set('ticket', ticket);
  return target.href;
};

/**
 * One viewer of an instance's serial line. It asks a new ticket for every connection and comes back by itself, across
 * reboots too.
 */
export class SerialLink {
  private socket: WebSocket | null = null;
  private size: { cols: number; rows: number } | null = null;
  private readonly connection: Connection;

  constructor(
    private readonly instanceId: string,
    private readonly on: Handlers,
  ) {
    this.connection = new Connection((attempt) => this.dial(attempt));
    this.connection.state.subscribe(() => this.on.onState(this.connection.state.get()));
    this.connection.start();
  }

  send(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(bytes);
  }

  resize(cols: number, rows: number): void {
    this.size = { cols, rows };
    this.sendSize();
  }

  /** Tries again now instead of after the wait. */
  retryNow(): void {
    this.connection.retryNow();
  }

  /** The instance changed: tries now if it waits. */
  hurry(): void {
    this.connection.hurry();
  }

  close(): void {
    this.connection.close();
  }

  private sendSize(): void {
    if (this.size !== null && this.socket?.readyState === WebSocket.OPEN)
      this.socket.send(JSON.stringify({ resize: this.size }));
  }

  private async dial({ signal, opened, lost }: Attempt): Promise<void> {
    let ticket: ConsoleTicket;
    try {
      ticket = await api.post('/instances/{ref}/actions/console', { path: { ref: this.instanceId }, signal });
    } catch (error) {
      const { status, detail } = asApiError(error);
      return lost({ why: detail, final: status === 401 || status === 403 || status === 404 });
    }
    if (signal.aborted) return;
    const socket = new WebSocket(socketUrl(ticket));
    socket.binaryType = 'arraybuffer';
    this.socket = socket;
    signal.addEventListener('abort', () => {
      socket.close();
      if (this.socket === socket) this.socket = null;
    });
    let first = true;
    socket.onopen = () => {
      opened();
      this.sendSize();
    };
    socket.onmessage = (event: MessageEvent<ArrayBuffer | string>) => {
      if (signal.aborted || typeof event.data === 'string') return;
      this.on.onData(new Uint8Array(event.data), first);
      first = false;
    };
    socket.onclose = ({ code, reason }) =>
      lost({
        why: reason === '' ? 'The connection was closed.' : (reasons[reason] ?? reason),
        final: refusals.has(code),
      });
  }
}
