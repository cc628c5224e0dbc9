import { EditDialog } from '../../app/edit-dialog';
import type { Instance } from '../../lib/types';
import { checkGrace, checkName } from '../../lib/validate';

/** What can be changed of an instance while it runs. `null` shows nothing. */
export function EditInstance({ instance, onClose }: { instance: Instance | null; onClose: () => void }) {
  return (
    <EditDialog
      noun="instance"
      path="/instances/{ref}"
      item={instance}
      onClose={onClose}
      fields={[
        {
          key: 'name',
          label: 'Name',
          value: instance?.name ?? '',
          check: checkName,
          hint: 'The guest keeps its hostname.',
        },
        { key: 'description', label: 'Description', value: instance?.description ?? '', optional: true },
        {
          key: 'stopGraceSeconds',
          label: 'Seconds to wait for the guest when stopping',
          value: String(instance?.stopGraceSeconds ?? ''),
          option: 'stop-grace',
          check: checkGrace,
          parse: Number,
        },
      ]}
    />
  );
}
