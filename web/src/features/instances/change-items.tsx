import { HardDriveDownload, LifeBuoy, Lock, LockOpen, MemoryStick, Scaling, Undo2 } from 'lucide-react';
import type { Instance } from '../../lib/types';
import { MenuItem } from '../../ui/menu';
import { useInstanceActions } from './use-instance-actions';
import { useUnlock } from './use-unlock';

interface Props {
  instance: Instance;
  onResize: () => void;
  onBalloon: () => void;
  onRebuild: () => void;
  onRescue: () => void;
  onLock: () => void;
}

/** Entries of the menu that change what an instance is. */
export function ChangeItems({ instance, onResize, onBalloon, onRebuild, onRescue, onLock }: Props) {
  const { run, reason } = useInstanceActions();
  const unlock = useUnlock();
  const only = [instance];
  return (
    <>
      <MenuItem icon={Scaling} reason={reason(only, 'resize')} onSelect={onResize}>
        Resize…
      </MenuItem>
      <MenuItem icon={MemoryStick} reason={reason(only, 'balloon')} onSelect={onBalloon}>
        Give and take memory…
      </MenuItem>
      <MenuItem icon={HardDriveDownload} danger reason={reason(only, 'rebuild')} onSelect={onRebuild}>
        Rebuild…
      </MenuItem>
      {instance.rescue === null ? (
        <MenuItem icon={LifeBuoy} reason={reason(only, 'rescue')} onSelect={onRescue}>
          Rescue…
        </MenuItem>
      ) : (
        <MenuItem icon={Undo2} reason={reason(only, 'unrescue')} onSelect={() => run(only, 'unrescue')}>
          Unrescue
        </MenuItem>
      )}
      {instance.lock === null ? (
        <MenuItem icon={Lock} reason={reason(only, 'edit')} onSelect={onLock}>
          Lock…
        </MenuItem>
      ) : (
        <MenuItem icon={LockOpen} reason={reason(only, 'unlock')} onSelect={() => unlock(instance)}>
          Unlock
        </MenuItem>
      )}
    </>
  );
}
