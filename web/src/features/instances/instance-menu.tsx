import {
  CirclePause,
  CirclePlay,
  CirclePower,
  Ellipsis,
  Moon,
  Pencil,
  Play,
  RotateCw,
  Square,
  SquareTerminal,
  Trash2,
  Zap,
} from 'lucide-react';
import { type ReactElement, useState } from 'react';
import { useNavigate } from 'react-router';
import type { Instance } from '../../lib/types';
import { Menu, MenuItem, MenuLine } from '../../ui/menu';
import { BalloonInstance } from './balloon-instance';
import { ChangeItems } from './change-items';
import { LockInstance } from './lock-instance';
import { RebuildInstance } from './rebuild-instance';
import { RescueInstance } from './rescue-instance';
import { ResizeInstance } from './resize-instance';
import { useInstanceActions } from './use-instance-actions';

const menuButton = (name: string): ReactElement => (
  <button
    type="button"
    aria-label={`Actions for ${name}`}
    className="grid size-8 place-items-center rounded-md text-dim hover:bg-idle-soft hover:text-ink"
  >
    <Ellipsis aria-hidden className="size-4" />
  </button>
);

/** Every verb of one instance; what cannot be done now says why. */
export function InstanceMenu({
  instance,
  onEdit,
  onDelete,
}: {
  instance: Instance;
  onEdit: () => void;
  onDelete: () => void;
}) {
  const { run, reason } = useInstanceActions();
  const navigate = useNavigate();
  const [locking, setLocking] = useState(false);
  const [resizing, setResizing] = useState(false);
  const [ballooning, setBallooning] = useState(false);
  const [rebuilding, setRebuilding] = useState(false);
  const [rescuing, setRescuing] = useState(false);
  const only = [instance];
  return (
    <>
      <Menu trigger={menuButton(instance.name)}>
        <MenuItem
          icon={SquareTerminal}
          reason={reason(only, 'console')}
          onSelect={() => void navigate(`/instances/${instance.id}?tab=console`)}
        >
          Open console
        </MenuItem>
        <MenuItem icon={Play} reason={reason(only, 'start')} onSelect={() => run(only, 'start')}>
          Start
        </MenuItem>
        <MenuItem icon={Square} reason={reason(only, 'stop')} onSelect={() => run(only, 'stop')}>
          Stop
        </MenuItem>
        <MenuItem icon={RotateCw} reason={reason(only, 'reboot')} onSelect={() => run(only, 'reboot')}>
          Reboot
        </MenuItem>
        {instance.state === 'paused' || instance.state === 'suspended' ? (
          <MenuItem icon={CirclePlay} reason={reason(only, 'resume')} onSelect={() => run(only, 'resume')}>
            Resume
          </MenuItem>
        ) : (
          <MenuItem icon={CirclePause} reason={reason(only, 'pause')} onSelect={() => run(only, 'pause')}>
            Pause
          </MenuItem>
        )}
        <MenuItem icon={Moon} reason={reason(only, 'suspend')} onSelect={() => run(only, 'suspend')}>
          Suspend to disk
        </MenuItem>
        <MenuItem icon={CirclePower} reason={reason(only, 'force-stop')} onSelect={() => run(only, 'stop', true)}>
          Stop at once, without asking the guest
        </MenuItem>
        <MenuItem icon={Zap} reason={reason(only, 'nmi')} onSelect={() => run(only, 'nmi')}>
          Send a non-maskable interrupt
        </MenuItem>
        <MenuLine />
        <MenuItem icon={Pencil} reason={reason(only, 'edit')} onSelect={onEdit}>
          Edit…
        </MenuItem>
        <ChangeItems
          instance={instance}
          onResize={() => setResizing(true)}
          onBalloon={() => setBallooning(true)}
          onRebuild={() => setRebuilding(true)}
          onRescue={() => setRescuing(true)}
          onLock={() => setLocking(true)}
        />
        <MenuItem icon={Trash2} danger reason={reason(only, 'delete')} onSelect={onDelete}>
          Delete…
        </MenuItem>
      </Menu>
      <LockInstance instance={instance} open={locking} onClose={() => setLocking(false)} />
      <ResizeInstance instance={instance} open={resizing} onClose={() => setResizing(false)} />
      <BalloonInstance instance={instance} open={ballooning} onClose={() => setBallooning(false)} />
      <RebuildInstance instance={instance} open={rebuilding} onClose={() => setRebuilding(false)} />
      <RescueInstance instance={instance} open={rescuing} onClose={() => setRescuing(false)} />
    </>
  );
}
