import { Connection, type Attempt, type ConnectionState } from '../../lib/connection';
import { consoleSocket } from './console-socket';

interface Handlers {
  onState: (state: ConnectionState) => void;
  /** Serial output. `first` marks the start of a new connection: the host then sends its kept output again. */
  onData: (bytes: Uint8Array, first: boolean) => void;
}

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

  private async dial(attempt: Attempt): Promise<void> {
    const socket = await consoleSocket(this.instanceId, 'serial', attempt);
    if (socket === null) return;
    const { signal, opened } = attempt;
    this.socket = socket;
    signal.addEventListener('abort', () => {
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
  }
}
