import { HardDriveDownload, Lock, LockOpen, Scaling } from 'lucide-react';
import type { Instance } from '../../lib/types';
import { MenuItem } from '../../ui/menu';
import { useInstanceActions } from './use-instance-actions';
import { useUnlock } from './use-unlock';

interface Props {
  instance: Instance;
  onResize: () => void;
  onRebuild: () => void;
  onLock: () => void;
}

/** Entries of the menu that change what an instance is. */
export function ChangeItems({ instance, onResize, onRebuild, onLock }: Props) {
  const { reason } = useInstanceActions();
  const unlock = useUnlock();
  const only = [instance];
  return (
    <>
      <MenuItem icon={Scaling} reason={reason(only, 'resize')} onSelect={onResize}>
        Resize…
      </MenuItem>
      <MenuItem icon={HardDriveDownload} danger reason={reason(only, 'rebuild')} onSelect={onRebuild}>
        Rebuild…
      </MenuItem>
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
