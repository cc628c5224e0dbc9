import { CloudOff, LoaderCircle, RefreshCw, Zap } from 'lucide-react';
import { clockTime } from '../../lib/format';
import { liveState } from '../../lib/live';
import { reachability } from '../../lib/reachability';
import { useStore } from '../../lib/store';
import { Tooltip } from '../../ui/feedback/tooltip';

const looks = {
  live: { icon: Zap, label: 'Live', tip: 'Connected: changes show as they happen.', className: 'text-ok' },
  connecting: { icon: LoaderCircle, label: 'Connecting', tip: 'Connecting to the live events.', className: 'text-dim' },
  polling: {
    icon: RefreshCw,
    label: 'Polling',
    tip: 'The live connection is down. Lists are refreshed every 5 seconds until it is back.',
    className: 'text-warn',
  },
  offline: {
    icon: CloudOff,
    label: 'Offline',
    tip: 'The server does not answer. What you see may have changed since.',
    className: 'text-warn',
  },
} as const;

/** How old what shows may be. */
export function ConnectionState() {
  const live = useStore(liveState);
  const reach = useStore(reachability.state);
  const look = looks[reach.up ? live : 'offline'];
  return (
    <Tooltip text={look.tip} side="bottom">
      <span
        role="status"
        tabIndex={0}
        className={`flex h-8 items-center gap-1.5 rounded-md px-1.5 text-xs ${look.className}`}
      >
        <look.icon aria-hidden className="size-3.5" />
        <span className="sr-only sm:not-sr-only">
          {look.label}
          {!reach.up && ` since ${clockTime(reach.since)}`}
        </span>
      </span>
    </Tooltip>
  );
}
