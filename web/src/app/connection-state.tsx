import { LoaderCircle, RefreshCw, Zap } from 'lucide-react';
import { liveState } from '../lib/live';
import { useStore } from '../lib/store';
import { Tooltip } from '../ui/tooltip';

const looks = {
  live: { icon: Zap, label: 'Live', tip: 'Connected: changes show as they happen.', className: 'text-ok' },
  connecting: { icon: LoaderCircle, label: 'Connecting', tip: 'Connecting to the live events.', className: 'text-dim' },
  polling: { icon: RefreshCw, label: 'Polling', tip: 'The live connection is down. Lists are refreshed every 5 seconds until it is back.', className: 'text-warn' },
} as const;

export function ConnectionState() {
  const state = useStore(liveState);
  const look = looks[state];
  return (
    <Tooltip text={look.tip} side="bottom">
      <span role="status" tabIndex={0} className={`flex h-8 items-center gap-1.5 rounded-md px-1.5 text-xs ${look.className}`}>
        <look.icon aria-hidden className="size-3.5" />
        <span className="sr-only sm:not-sr-only">{look.label}</span>
      </span>
    </Tooltip>
  );
}
