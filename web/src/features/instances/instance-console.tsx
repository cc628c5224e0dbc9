import {
  ExternalLink,
  Keyboard,
  LoaderCircle,
  Maximize2,
  Monitor,
  Play,
  PlugZap,
  Scan,
  SquareTerminal,
} from 'lucide-react';
import { useEffect, useRef, useState, type Ref } from 'react';
import { useSearchParams } from 'react-router';
import type { ConnectionState } from '../../lib/connection';
import { clockTime } from '../../lib/format';
import type { Instance } from '../../lib/types';
import { Button } from '../../ui/button';
import { cx } from '../../ui/cx';
import { lazyPart } from '../../ui/lazy-part';
import { whyNot } from './instance-rules';
import type { ScreenLink } from './screen-link';
import type { SerialLink } from './serial-link';
import { useInstanceActions } from './use-instance-actions';

const Terminal = lazyPart(() => import('./terminal'), <Note busy>Loading the terminal…</Note>);

const Screen = lazyPart(() => import('./screen'), <Note busy>Loading the screen…</Note>);

type View = 'serial' | 'screen';

/** Which of the two shows, in the page's address. */
const useView = (): [View, (next: View) => void] => {
  const [params, setParams] = useSearchParams();
  const choose = (next: View): void =>
    setParams(
      (before) => {
        const after = new URLSearchParams(before);
        if (next === 'screen') after.set('view', next);
        else after.delete('view');
        return after;
      },
      { replace: true },
    );
  return [params.get('view') === 'screen' ? 'screen' : 'serial', choose];
};

const statusText = (state: ConnectionState): string => {
  switch (state.kind) {
    case 'open':
      return 'Connected';
    case 'waiting':
      return 'Reconnecting';
    case 'offline':
      return `Offline since ${clockTime(state.since)}`;
    case 'refused':
    case 'given-up':
    case 'closed':
      return 'Not connected';
    default:
      return 'Connecting';
  }
};

/** The terminal or the screen in a dark frame, with the state of the connection. `full`: it is the whole page. */
export default function InstanceConsole({ instance, full = false }: { instance: Instance; full?: boolean }) {
  const [state, setState] = useState<ConnectionState>({ kind: 'connecting' });
  const [view, setView] = useView();
  const [fit, setFit] = useState(true);
  const link = useRef<SerialLink | ScreenLink | null>(null);
  const screen = useRef<ScreenLink | null>(null);
  const leave = useRef<HTMLDivElement>(null);
  const { run, reason } = useInstanceActions();
  const off = whyNot(instance, 'console', null);
  // Once a terminal shows it stays, so that the last words of a machine that ended can be read.
  const [opened, setOpened] = useState(off === null);
  useEffect(() => {
    if (off !== null) return;
    setOpened(true);
    link.current?.hurry();
  }, [off, instance.state]);

  return (
    <div
      data-theme="dark"
      className={cx(
        'flex flex-col overflow-hidden bg-[#0b0c0f] text-ink',
        full ? 'h-dvh' : 'h-[max(22rem,calc(100dvh-19rem))] rounded-xl border border-line',
      )}
    >
      <Toolbar
        ref={leave}
        instance={instance}
        full={full}
        view={view}
        fit={fit}
        state={off === null ? state : null}
        onView={setView}
        onFit={() => setFit(!fit)}
        onCtrlAltDel={() => screen.current?.sendCtrlAltDel()}
        onRetry={() => link.current?.retryNow()}
      />
      <div className="relative min-h-0 flex-1 p-2">
        {opened && view === 'serial' && (
          <Terminal
            instanceId={instance.id}
            name={instance.name}
            onState={setState}
            onLink={(next) => {
              link.current = next;
            }}
            onLeave={() => leave.current?.focus()}
          />
        )}
        {opened && view === 'screen' && (
          <Screen
            instanceId={instance.id}
            name={instance.name}
            fit={fit}
            onState={setState}
            onLink={(next) => {
              link.current = next;
              screen.current = next;
            }}
            onLeave={() => leave.current?.focus()}
          />
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
          <LinkNote state={state} />
        )}
      </div>
    </div>
  );
}

interface ToolbarProps {
  /** Takes the focus from the terminal. */
  ref: Ref<HTMLDivElement>;
  instance: Instance;
  full: boolean;
  view: View;
  fit: boolean;
  /** Null where the instance does not run. */
  state: ConnectionState | null;
  onView: (view: View) => void;
  onFit: () => void;
  onCtrlAltDel: () => void;
  onRetry: () => void;
}

const views = [
  ['serial', 'Serial', SquareTerminal],
  ['screen', 'Screen', Monitor],
] as const;

function Toolbar({ ref, instance, full, view, fit, state, onView, onFit, onCtrlAltDel, onRetry }: ToolbarProps) {
  return (
    <div
      ref={ref}
      tabIndex={-1}
      role="toolbar"
      aria-label="Console"
      className="flex h-11 shrink-0 items-center gap-3 border-b border-line px-3 text-xs outline-none"
    >
      <span
        className={cx(
          'size-2 shrink-0 rounded-full',
          state === null ? 'bg-line-strong' : state.kind === 'open' ? 'bg-ok' : 'bg-warn',
        )}
        aria-hidden
      />
      <span role="status" className="shrink-0">
        {state === null ? 'Not running' : statusText(state)}
      </span>
      <span title={instance.name} className="min-w-0 flex-1 truncate text-dim">
        {full && `${instance.name} · `}
        {view === 'serial' ? 'serial console' : 'screen'}
        <span className="hidden md:inline">
          {' '}
          · Ctrl+Shift+F6 leaves the {view === 'serial' ? 'terminal' : 'screen'}
        </span>
      </span>
      {view === 'screen' && state?.kind === 'open' && (
        <>
          <Button size="sm" look="ghost" icon={Keyboard} hint="Sends these keys to the guest" onClick={onCtrlAltDel}>
            Ctrl+Alt+Del
          </Button>
          <Button size="sm" look="ghost" icon={fit ? Scan : Maximize2} onClick={onFit}>
            {fit ? 'Actual size' : 'Fit'}
          </Button>
        </>
      )}
      {(state?.kind === 'waiting' || state?.kind === 'given-up' || state?.kind === 'refused') && (
        <Button size="sm" icon={PlugZap} onClick={onRetry}>
          {state.kind === 'waiting' ? 'Connect now' : 'Try again'}
        </Button>
      )}
      <div role="group" aria-label="View" className="flex shrink-0 gap-1">
        {views.map(([key, label, Icon]) => (
          <button
            key={key}
            type="button"
            aria-pressed={view === key}
            onClick={() => onView(key)}
            className={cx(
              'inline-flex h-7 items-center gap-1.5 rounded-md px-2',
              view === key ? 'bg-sunken text-ink' : 'text-dim hover:bg-sunken hover:text-ink',
            )}
          >
            <Icon aria-hidden className="size-3.5" />
            {label}
          </button>
        ))}
      </div>
      {!full && (
        <a
          href={`/console/instances/${instance.id}/console${view === 'screen' ? '?view=screen' : ''}`}
          target="_blank"
          rel="noopener noreferrer"
          className="inline-flex h-7 shrink-0 items-center gap-1.5 rounded-md px-2 text-dim hover:bg-sunken hover:text-ink"
        >
          <ExternalLink aria-hidden className="size-3.5" />
          Open in own tab
        </a>
      )}
    </div>
  );
}

/** Why nothing comes, where nothing does. */
function LinkNote({ state }: { state: ConnectionState }) {
  if (state.kind === 'waiting') return <Note busy>{state.why} Trying again.</Note>;
  if (state.kind === 'offline')
    return <Note>The server does not answer. The console comes back by itself when it does.</Note>;
  if (state.kind === 'refused') return <Note>{state.why}</Note>;
  if (state.kind === 'given-up') return <Note>{state.why} It was tried many times.</Note>;
  return null;
}

function Note({ busy = false, children }: { busy?: boolean; children: React.ReactNode }) {
  return (
    <div className="absolute inset-x-3 bottom-3 z-10 flex flex-wrap items-center justify-center gap-3 rounded-lg border border-line bg-raised/95 px-4 py-2.5 text-center text-sm shadow-float">
      {busy && <LoaderCircle aria-hidden className="size-4 animate-spin text-busy" />}
      {children}
    </div>
  );
}
