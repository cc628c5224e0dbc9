/** The part of noVNC that is used here; it brings no types. */
declare module '@novnc/novnc' {
  export default class RFB extends EventTarget {
    constructor(target: HTMLElement, channel: WebSocket, options?: { shared?: boolean });
    scaleViewport: boolean;
    background: string;
    focus(options?: FocusOptions): void;
    blur(): void;
    sendCtrlAltDel(): void;
    disconnect(): void;
  }
}
