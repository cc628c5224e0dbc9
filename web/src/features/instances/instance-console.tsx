import { ExternalLink, LoaderCircle, Play, PlugZap } from 'lucide-react';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import type { Instance } from '../../lib/types';
import { Button } from '../../ui/button';
import { cx } from '../../ui/cx';
import { whyNot } from './instance-rules';
import type { LinkState, SerialLink } from './serial-link';
import { useInstanceActions } from './use-instance-actions';

const Terminal = lazy(() => import('./terminal'));

const statusText = (state: LinkState): string => (state.kind === 'open' ? 'Connected' : state.kind === 'connecting' ? 'Connecting' : 'Reconnecting');

/** The terminal in its dark frame, with the state of the connection. `full`: it is the whole page. */
export default function InstanceConsole({ instance, full = false }: { instance: Instance; full?: boolean }) {
  const [state, setState] = useState<LinkState>({ kind: 'connecting' });
  const link = useRef<SerialLink | null>(null);
  const leave = useRef<HTMLDivElement>(null);
  const { run, reason } = useInstanceActions();
  const off = whyNot(instance, 'console', null);
  // Once a terminal shows it stays, so that the last words of a machine that ended can be read.
  const [opened, setOpened] = useState(off === null);
  useEffect(() => {
    if (off !== null) return;
    setOpened(true);
    link.current?.retryNow();
  }, [off, instance.state]);

  return (
    <div data-theme="dark" className={cx('flex flex-col overflow-hidden bg-[#0b0c0f] text-ink', full ? 'h-dvh' : 'h-[max(22rem,calc(100dvh-19rem))] rounded-xl border border-line')}>
      <div ref={leave} tabIndex={-1} role="toolbar" aria-label="Console" className="flex h-11 shrink-0 items-center gap-3 border-b border-line px-3 text-xs outline-none">
        <span className={cx('size-2 shrink-0 rounded-full', state.kind === 'open' ? 'bg-ok' : 'bg-warn')} aria-hidden />
        <span role="status" className="shrink-0">
          {off === null ? statusText(state) : 'Not running'}
        </span>
        <span title={instance.name} className="min-w-0 flex-1 truncate text-dim">
          {full && `${instance.name} · `}serial console
          <span className="hidden md:inline"> · Ctrl+Shift+F6 leaves the terminal</span>
        </span>
        {state.kind === 'waiting' && off === null && (
          <Button size="sm" icon={PlugZap} onClick={() => link.current?.retryNow()}>
            Connect now
          </Button>
        )}
        {!full && (
          <a
            href={`/console/instances/${instance.id}/console`}
            target="_blank"
            rel="noopener noreferrer"
            className="inline-flex h-7 shrink-0 items-center gap-1.5 rounded-md px-2 text-dim hover:bg-sunken hover:text-ink"
          >
            <ExternalLink aria-hidden className="size-3.5" />
            Open in own tab
          </a>
        )}
      </div>
      <div className="relative min-h-0 flex-1 p-2">
        {opened && (
          <Suspense fallback={<Note busy>Loading the terminal…</Note>}>
            <Terminal
              instanceId={instance.id}
              name={instance.name}
              onState={setState}
              onLink={(next) => {
                link.current = next;
              }}
              onLeave={() => leave.current?.focus()}
            />
          </Suspense>
        )}
        {off !== null ? (
          <Note>
            <span>{instance.state === 'stopped' ? 'This instance is stopped.' : off}</span>
            {(instance.state === 'stopped' || instance.state === 'error') && (
              <Button icon={Play} reason={reason([instance], 'start')} onClick={() => run([instance], 'start')}>
                Start it
              </Button>
            )}
          </Note>
        ) : (
          state.kind === 'waiting' && <Note busy>{state.why} Trying again.</Note>
        )}
      </div>
    </div>
  );
}

function Note({ busy = false, children }: { busy?: boolean; children: React.ReactNode }) {
  return (
    <div className="absolute inset-x-3 bottom-3 z-10 flex flex-wrap items-center justify-center gap-3 rounded-lg border border-line bg-raised/95 px-4 py-2.5 text-center text-sm shadow-float">
      {busy && <LoaderCircle aria-hidden className="size-4 animate-spin text-busy" />}
      {children}
    </div>
  );
}
