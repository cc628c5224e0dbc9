import { FitAddon } from '@xterm/addon-fit';
import { Terminal as XTerm } from '@xterm/xterm';
import '@xterm/xterm/css/xterm.css';
import { useEffect, useRef } from 'react';
import type { ConnectionState } from '../../lib/connection';
import { SerialLink } from './serial-link';

const theme = {
  background: '#0b0c0f',
  foreground: '#e4e5ea',
  cursor: '#98a6ff',
  cursorAccent: '#0b0c0f',
  selectionBackground: '#3a4fd680',
  black: '#1c1e24',
  red: '#ff8b86',
  green: '#5fd38d',
  yellow: '#f0b860',
  blue: '#8fabff',
  magenta: '#d7a1ff',
  cyan: '#6fd6dd',
  white: '#d5d7de',
  brightBlack: '#7d818c',
  brightRed: '#ffaaa6',
  brightGreen: '#86e3ab',
  brightYellow: '#f7cd88',
  brightBlue: '#b0c3ff',
  brightMagenta: '#e5c4ff',
  brightCyan: '#9be6eb',
  brightWhite: '#ffffff',
};

interface Props {
  instanceId: string;
  name: string;
  onState: (state: ConnectionState) => void;
  /** Gets the link, so that the frame can ask for another try. */
  onLink: (link: SerialLink | null) => void;
  onLeave: () => void;
}

/** The serial line in xterm.js. A chunk of its own: nothing of it loads before a console is opened. */
export default function Terminal({ instanceId, name, onState, onLink, onLeave }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const callbacks = useRef({ onState, onLink, onLeave });
  useEffect(() => {
    callbacks.current = { onState, onLink, onLeave };
  });

  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const term = new XTerm({
      theme,
      fontFamily:
        "ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace",
      fontSize: 13,
      lineHeight: 1.15,
      scrollback: 10_000,
      cursorBlink: true,
      screenReaderMode: false,
      allowProposedApi: false,
    });
    const fit = new FitAddon();
    term.loadAddon(fit);
    term.open(element);
    term.textarea?.setAttribute('aria-label', `Serial console of ${name}. Control Shift F6 leaves it.`);
    const link = new SerialLink(instanceId, {
      onState: (state) => callbacks.current.onState(state),
      onData: (bytes, first) => {
        if (first) term.reset();
        term.write(bytes);
      },
    });
    callbacks.current.onLink(link);
    term.attachCustomKeyEventHandler((event) => {
      if (event.type !== 'keydown' || event.key !== 'F6' || !event.ctrlKey || !event.shiftKey) return true;
      term.blur();
      callbacks.current.onLeave();
      return false;
    });
    const encoder = new TextEncoder();
    const typed = term.onData((data) => link.send(encoder.encode(data)));
    const binary = term.onBinary((data) => link.send(Uint8Array.from(data, (c) => c.charCodeAt(0))));
    const resized = term.onResize(({ cols, rows }) => link.resize(cols, rows));
    const refit = (): void => {
      if (element.clientWidth > 0 && element.clientHeight > 0) fit.fit();
    };
    refit();
    link.resize(term.cols, term.rows);
    const observer = new ResizeObserver(refit);
    observer.observe(element);
    term.focus();
    return () => {
      callbacks.current.onLink(null);
      observer.disconnect();
      typed.dispose();
      binary.dispose();
      resized.dispose();
      link.close();
      term.dispose();
    };
  }, [instanceId, name]);

  return <div ref={box} className="size-full overflow-hidden" />;
}
