import { CloudOff, RotateCw } from 'lucide-react';
import { clockTime } from '../../lib/format';
import { reachability } from '../../lib/reachability';
import { useStore } from '../../lib/store';
import { Button } from '../../ui/button';

/** Says that the server does not answer, and since when: what shows is of that time. */
export function OfflineBanner() {
  const reach = useStore(reachability.state);
  return (
    <div role="status" aria-live="assertive" className="sticky top-13 z-19">
      {!reach.up && (
        <div className="flex flex-wrap items-center gap-x-3 gap-y-2 border-b border-warn/30 bg-warn-soft px-3 py-2 text-sm text-warn sm:px-7">
          <CloudOff aria-hidden className="size-4 shrink-0" />
          <p className="min-w-0 flex-1 basis-60">
            <strong className="font-semibold">Offline since {clockTime(reach.since)}.</strong> The server does not
            answer. What you see is as of then, and nothing can be changed.
          </p>
          <Button size="sm" icon={RotateCw} onClick={() => reachability.suspect()}>
            Try now
          </Button>
        </div>
      )}
    </div>
  );
}
