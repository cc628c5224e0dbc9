import { api } from '../../lib/api';
import { asApiError } from '../../lib/problem';
import type { ConsoleTicket } from '../../lib/types';

export type LinkState = { kind: 'connecting' } | { kind: 'open' } | { kind: 'waiting'; why: string };

interface Handlers {
  onState: (state: LinkState) => void;
  /** Serial output. `first` marks the start of a new connection: the host then sends its kept output again. */
  onData: (bytes: Uint8Array, first: boolean) => void;
}

/** Waits between attempts, in milliseconds; the last one repeats. */
const waits = [500, 1000, 2000, 4000];

const socketUrl = ({ path, ticket }: ConsoleTicket): string => {
  const target = new URL(path.startsWith('/api/') ? path : `/api/v1${path}`, window.location.href);
  target.protocol = target.protocol === 'http:' ? 'ws:' : 'wss:';
  if (!target.searchParams.has('ticket')) target.searchParams.set('ticket', ticket);
  return target.href;
};

/** One viewer of an instance's serial line. It asks a new ticket for every connection and comes back by itself, across reboots too. */
export class SerialLink {
  private socket: WebSocket | null = null;
  private timer: number | undefined;
  private failures = 0;
  private closed = false;
  private size: { cols: number; rows: number } | null = null;

  constructor(
    private readonly instanceId: string,
    private readonly on: Handlers,
  ) {
    void this.open();
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
    if (this.socket !== null || this.closed) return;
    window.clearTimeout(this.timer);
    this.failures = 0;
    void this.open();
  }

  close(): void {
    this.closed = true;
    window.clearTimeout(this.timer);
    this.socket?.close();
    this.socket = null;
  }

  private sendSize(): void {
    if (this.size !== null && this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ resize: this.size }));
  }

  private async open(): Promise<void> {
    this.on.onState({ kind: 'connecting' });
    let ticket: ConsoleTicket;
    try {
      ticket = await api.post<ConsoleTicket>(`/instances/${this.instanceId}/actions/console`);
    } catch (error) {
      return this.again(asApiError(error).detail);
    }
    if (this.closed) return;
    const socket = new WebSocket(socketUrl(ticket));
    socket.binaryType = 'arraybuffer';
    this.socket = socket;
    let first = true;
    socket.onopen = () => {
      this.failures = 0;
      this.on.onState({ kind: 'open' });
      this.sendSize();
    };
    socket.onmessage = (event: MessageEvent<ArrayBuffer | string>) => {
      if (typeof event.data === 'string') return;
      this.on.onData(new Uint8Array(event.data), first);
      first = false;
    };
    socket.onclose = (event) => {
      if (this.socket !== socket) return;
      this.socket = null;
      this.again(event.reason === '' ? 'The connection was closed.' : event.reason);
    };
  }

  private again(why: string): void {
    if (this.closed) return;
    this.on.onState({ kind: 'waiting', why });
    const wait = waits[Math.min(this.failures, waits.length - 1)] ?? 4000;
    this.failures += 1;
    this.timer = window.setTimeout(() => void this.open(), wait);
  }
}
