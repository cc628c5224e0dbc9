import { EditDialog } from '../../app/edit-dialog';
import type { Instance } from '../../lib/types';
import { checkDescription, checkName } from '../../lib/validate';
import { checkGrace } from './grace-rule';

export interface EditInstanceProps {
  /** Null shows nothing. */
  instance: Instance | null;
  onClose: () => void;
}

/** What can be changed of an instance while it runs. */
export default function EditInstance({ instance, onClose }: EditInstanceProps) {
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
        {
          key: 'description',
          label: 'Description',
          value: instance?.description ?? '',
          optional: true,
          check: checkDescription,
        },
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
