import {
  Ban,
  Check,
  CircleAlert,
  CircleHelp,
  CirclePause,
  CircleStop,
  Clock,
  History,
  LifeBuoy,
  LoaderCircle,
  Moon,
  OctagonAlert,
  Play,
  Undo2,
  Wrench,
  type LucideIcon,
} from 'lucide-react';
import { clockTime, words } from '../../lib/format';
import { reachability } from '../../lib/reachability';
import { useStore } from '../../lib/store';
import { Badge, type Tone } from './badge';

interface Look {
  tone: Tone;
  icon: LucideIcon;
  spin?: boolean;
}

const busy: Look = { tone: 'busy', icon: LoaderCircle, spin: true };
const looks: Record<string, Look> = {
  building: busy,
  starting: busy,
  stopping: busy,
  rebooting: busy,
  pausing: busy,
  suspending: busy,
  resuming: busy,
  resizing: busy,
  rebuilding: busy,
  rescuing: busy,
  unrescuing: busy,
  deleting: busy,
  creating: busy,
  attaching: busy,
  detaching: busy,
  uploading: busy,
  importing: busy,
  enrolling: busy,
  testing: busy,
  draining: busy,
  running: { tone: 'ok', icon: Play },
  ready: { tone: 'ok', icon: Check },
  active: { tone: 'ok', icon: Check },
  succeeded: { tone: 'ok', icon: Check },
  'in-use': { tone: 'ok', icon: Check },
  available: { tone: 'ok', icon: Check },
  paused: { tone: 'idle', icon: CirclePause },
  suspended: { tone: 'idle', icon: Moon },
  stopped: { tone: 'idle', icon: CircleStop },
  down: { tone: 'idle', icon: CircleStop },
  retired: { tone: 'idle', icon: CircleStop },
  queued: { tone: 'idle', icon: Clock },
  pending: { tone: 'idle', icon: Clock },
  discovered: { tone: 'idle', icon: Clock },
  skipped: { tone: 'idle', icon: Ban },
  cancelled: { tone: 'idle', icon: Ban },
  maintenance: { tone: 'warn', icon: Wrench },
  rescued: { tone: 'warn', icon: LifeBuoy },
  unknown: { tone: 'warn', icon: CircleHelp },
  degraded: { tone: 'warn', icon: CircleAlert },
  compensating: { tone: 'warn', icon: Undo2 },
  error: { tone: 'bad', icon: OctagonAlert },
  failed: { tone: 'bad', icon: OctagonAlert },
  stuck: { tone: 'bad', icon: OctagonAlert },
};
const taskRunning: Look = busy;
const labels: Record<string, string> = { compensating: 'Undoing', 'in-use': 'In use' };

/**
 * The state of any noun. `kind` tells a running task (busy) from a running instance (well). While the server does not
 * answer it is grey and still: it was so then.
 */
export function StateBadge({ state, kind, title }: { state: string; kind?: 'task'; title?: string }) {
  const reach = useStore(reachability.state);
  const label = labels[state] ?? words(state);
  if (!reach.up) {
    const asOf = `as of ${clockTime(reach.since)}`;
    return (
      <Badge tone="idle" icon={History} title={`${label} ${asOf}`}>
        {label}
        <span className="sr-only"> {asOf}</span>
      </Badge>
    );
  }
  const look =
    kind === 'task' && state === 'running'
      ? taskRunning
      : (looks[state] ?? { tone: 'idle' as const, icon: CircleHelp });
  return (
    <Badge
      tone={look.tone}
      icon={look.icon}
      {...(look.spin === true ? { spin: true } : {})}
      {...(title === undefined || title === '' ? {} : { title })}
    >
      {label}
    </Badge>
  );
}
