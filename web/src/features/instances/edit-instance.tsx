import { EditDialog } from '../../app/edit-dialog';
import type { Instance } from '../../lib/types';
import { checkDescription, checkName } from '../../lib/validate';
import { checkGrace } from './grace-rule';
import { checkMetadata, checkTags, linesOf, metadataOf, tagsOf } from './label-rules';

export interface EditInstanceProps {
  /** Null shows nothing. */
  instance: Instance | null;
  onClose: () => void;
}

/** An option that is given several times is given once, empty, for none. */
const orEmpty = (all: string[]): string[] => (all.length === 0 ? [''] : all);

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
        {
          key: 'restartPolicy',
          label: 'Started again after a failure',
          value: instance?.restartPolicy === 'on-failure' ? 'yes' : 'no',
          box: true,
          hint: 'By its host, a few times. From its next start on.',
          option: 'restart-policy',
          parse: (text) => (text === 'yes' ? 'on-failure' : 'never'),
          optionValue: (text) => (text === 'yes' ? 'on-failure' : 'never'),
        },
        {
          key: 'tags',
          label: 'Tags',
          value: instance?.tags.join(', ') ?? '',
          optional: true,
          option: 'tag',
          hint: 'Words to find it by, with commas between.',
          check: checkTags,
          parse: tagsOf,
          optionValue: (text) => orEmpty(tagsOf(text)),
        },
        {
          key: 'metadata',
          label: 'Metadata',
          value: Object.entries(instance?.metadata ?? {})
            .map(([key, value]) => `${key}=${value}`)
            .join('\n'),
          optional: true,
          long: true,
          option: 'meta',
          hint: 'Its guest reads them: a key and its value in each line, as role=web.',
          check: checkMetadata,
          parse: metadataOf,
          optionValue: (text) => orEmpty(linesOf(text)),
        },
        {
          key: 'protected',
          label: 'Protected from deletion',
          value: instance?.protected === true ? 'yes' : 'no',
          box: true,
          hint: 'Deleting it is refused until this is taken away.',
          parse: (text) => text === 'yes',
          optionValue: (text) => text,
        },
      ]}
    />
  );
}
