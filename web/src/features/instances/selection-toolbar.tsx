import { Play, RotateCw, Square, Trash2, X } from 'lucide-react';
import type { Instance } from '../../lib/types';
import { Button } from '../../ui/button';
import { useInstanceActions } from './use-instance-actions';

interface Props {
  chosen: Instance[];
  onClear: () => void;
  onDelete: () => void;
}

/** What can be done with the rows that are ticked. A verb works on those it fits. */
export function SelectionToolbar({ chosen, onClear, onDelete }: Props) {
  const { run, reason } = useInstanceActions();
  return (
    <div
      role="toolbar"
      aria-label="Actions for the selection"
      className="sticky bottom-0 z-10 flex flex-wrap items-center gap-1.5 rounded-b-xl border-t border-line bg-accent-soft px-4 py-2"
    >
      <span className="nums mr-2 text-sm font-medium">{chosen.length} selected</span>
      <Button size="sm" icon={Play} reason={reason(chosen, 'start')} onClick={() => run(chosen, 'start')}>
        Start
      </Button>
      <Button size="sm" icon={Square} reason={reason(chosen, 'stop')} onClick={() => run(chosen, 'stop')}>
        Stop
      </Button>
      <Button size="sm" icon={RotateCw} reason={reason(chosen, 'reboot')} onClick={() => run(chosen, 'reboot')}>
        Reboot
      </Button>
      <Button size="sm" icon={Trash2} reason={reason(chosen, 'delete')} onClick={onDelete}>
        Delete…
      </Button>
      <Button size="sm" look="ghost" icon={X} onClick={onClear} className="ml-auto">
        Clear
      </Button>
    </div>
  );
}
