import RFB from '@novnc/novnc';
import { Connection, type Attempt, type ConnectionState } from '../../lib/connection';
import { consoleSocket } from './console-socket';

/** One viewer of an instance's screen, drawn into `element`. It comes back by itself, as a serial line does. */
export class ScreenLink {
  private viewer: RFB | null = null;
  private fit = true;
  private readonly connection: Connection;

  constructor(
    private readonly instanceId: string,
    private readonly element: HTMLElement,
    private readonly onState: (state: ConnectionState) => void,
  ) {
    this.connection = new Connection((attempt) => this.dial(attempt));
    this.connection.state.subscribe(() => this.onState(this.connection.state.get()));
    this.connection.start();
  }

  /** Tries again now instead of after the wait. */
  retryNow(): void {
    this.connection.retryNow();
  }

  /** The instance changed: tries now if it waits. */
  hurry(): void {
    this.connection.hurry();
  }

  /** The keys that a browser keeps for itself. */
  sendCtrlAltDel(): void {
    this.viewer?.sendCtrlAltDel();
    this.viewer?.focus();
  }

  /** As large as there is room, or pixel by pixel. */
  setFit(fit: boolean): void {
    this.fit = fit;
    if (this.viewer) this.viewer.scaleViewport = fit;
  }

  blur(): void {
    this.viewer?.blur();
  }

  close(): void {
    this.connection.close();
  }

  private async dial(attempt: Attempt): Promise<void> {
    const socket = await consoleSocket(this.instanceId, 'vnc', attempt);
    if (socket === null) return;
    const { signal, opened } = attempt;
    const viewer = new RFB(this.element, socket, { shared: true });
    viewer.scaleViewport = this.fit;
    viewer.background = 'transparent';
    this.viewer = viewer;
    viewer.addEventListener('connect', () => {
      opened();
      viewer.focus({ preventScroll: true });
    });
    // An end from its side closes the socket, which tells why.
    signal.addEventListener('abort', () => {
      viewer.disconnect();
      if (this.viewer === viewer) this.viewer = null;
    });
  }
}
