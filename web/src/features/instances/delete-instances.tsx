import { vcctl } from '../../lib/command';
import { plural } from '../../lib/format';
import type { Instance } from '../../lib/types';
import { ConfirmDelete } from '../../ui/dialogs/confirm-delete';
import { useInstanceActions } from './use-instance-actions';

/** Type-to-confirm for one instance (its name) or several (their number). */
export function DeleteInstances({
  instances,
  onClose,
  onDone,
}: {
  instances: Instance[];
  onClose: () => void;
  onDone: () => void;
}) {
  const { write } = useInstanceActions();
  const one = instances.length === 1 ? instances[0] : undefined;
  return (
    <ConfirmDelete
      open={instances.length > 0}
      onClose={onClose}
      noun={one === undefined ? plural(instances.length, 'instance') : 'instance'}
      phrase={one?.name ?? `delete ${plural(instances.length, 'instance')}`}
      busy={write.isPending}
      error={write.error}
      command={vcctl(['instance', 'delete', ...instances.map((i) => i.name)])}
      onConfirm={() => write.mutate({ instances, verb: 'delete' }, { onSuccess: onDone })}
    >
      <p>The machine is stopped at once, and its root disk and addresses are released. There is no way back.</p>
      {one === undefined && (
        <ul className="mt-2 max-h-32 list-disc overflow-y-auto pl-5 text-ink">
          {instances.map((i) => (
            <li key={i.id} className="break-all">
              {i.name}
            </li>
          ))}
        </ul>
      )}
    </ConfirmDelete>
  );
}
