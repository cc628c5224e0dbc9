import type { ReactNode } from 'react';
import { useScope } from '../../../app/scope';
import type { List } from '../../../lib/queries';
import { SelectField, TextArea, TextField } from '../../../ui/forms/field';
import { LoadError } from '../../../ui/lists/list-states';
import { FormSection } from './choice';
import { FlavorPicker, ImagePicker, KeyPicker, Missing, NetworkPicker, PickerSkeleton } from './pickers';
import type { CreateForm } from './use-create-form';

interface Props {
  form: CreateForm;
}

/** A picker, or what stands in its place while its list is not there. */
function Offered<T>({ list, children }: { list: List<T>; children: ReactNode }) {
  if (list.error !== null && list.items.length === 0)
    return <LoadError error={list.error} onRetry={() => void list.refetch()} />;
  return list.isPending ? <PickerSkeleton /> : children;
}

export function NameSection({ form: { draft, change, choices, show, target } }: Props) {
  const scope = useScope();
  return (
    <FormSection title="Name">
      {scope.project === null && scope.projects.length > 1 && (
        <SelectField
          label="Project"
          value={target.picked}
          onChange={(event) => target.pick(event.target.value)}
          className="mb-4 max-w-sm"
        >
          {scope.projects.map((p) => (
            <option key={p.id} value={p.id} disabled={p.role === 'viewer'}>
              {p.name}
            </option>
          ))}
        </SelectField>
      )}
      <div className="flex max-w-lg flex-wrap items-start gap-4">
        <TextField
          label="Instance name"
          name="name"
          value={draft.name}
          onChange={(event) => change({ name: event.target.value })}
          error={show('name')}
          hint={
            choices.several && draft.name !== ''
              ? `${choices.names}: all of them are made, or none.`
              : 'Any text of up to 63 characters. The guest gets a hostname derived from it.'
          }
          placeholder={choices.several ? 'web' : 'web-1'}
          autoFocus
          className="min-w-60 flex-1"
        />
        <TextField
          label="How many"
          name="count"
          inputMode="numeric"
          value={draft.count}
          onChange={(event) => change({ count: event.target.value })}
          error={show('count')}
          className="w-28"
        />
      </div>
    </FormSection>
  );
}

export function FlavorSection({ form: { lists, change, choices, show } }: Props) {
  const { admin } = useScope();
  return (
    <FormSection title="Flavor" hint="How many processors and how much memory." error={show('flavor')}>
      <Offered list={lists.flavors}>
        {choices.sizes.length > 0 ? (
          <FlavorPicker
            flavors={choices.sizes}
            value={choices.flavor?.id ?? ''}
            onChange={(flavorId) => change({ flavorId })}
          />
        ) : admin ? (
          <Missing to="/flavors?new=1" label="Create a flavor">
            There is no flavor yet.
          </Missing>
        ) : (
          <Missing>There is no flavor yet. Ask an administrator to create one.</Missing>
        )}
      </Offered>
    </FormSection>
  );
}

export function ImageSection({ form: { lists, change, choices, show } }: Props) {
  return (
    <FormSection title="Image" hint="What its disk starts from." error={show('image')}>
      <Offered list={lists.images}>
        {lists.images.items.length === 0 ? (
          <Missing to="/images?new=1" label="Upload or import one">
            There is no image yet.
          </Missing>
        ) : (
          <ImagePicker
            images={lists.images.items}
            flavor={choices.flavor}
            value={choices.image?.id ?? ''}
            onChange={(imageId) => change({ imageId })}
          />
        )}
      </Offered>
    </FormSection>
  );
}

export function NetworkSection({ form: { lists, change, choices, networksError, addressError } }: Props) {
  return (
    <FormSection
      title="Networks"
      hint="One interface in each, in the order in which they are chosen."
      error={networksError}
    >
      <Offered list={lists.networks}>
        {lists.networks.items.length === 0 ? (
          <Missing to="/networks?new=1" label="Create a network">
            There is no network in this project yet.
          </Missing>
        ) : (
          <NetworkPicker
            networks={lists.networks.items}
            value={choices.attached}
            onChange={(networks) => change({ networks })}
            refused={addressError}
          />
        )}
        {choices.attached.length > 1 && (
          <SelectField
            label="Default route"
            value={choices.wayOut}
            onChange={(event) => change({ wayOut: event.target.value })}
            className="mt-4 max-w-sm"
            hint="What is in none of these networks goes this way."
          >
            <option value="">By the first one that reaches the outside</option>
            {choices.ways.map((n) => (
              <option key={n.id} value={n.id}>
                By {n.name}
              </option>
            ))}
          </SelectField>
        )}
      </Offered>
    </FormSection>
  );
}

export function KeySection({ form: { lists, draft, change, show } }: Props) {
  const { items } = lists.keys;
  return (
    <FormSection
      title="SSH keys"
      hint="Who may log in. Without a key there is only the serial console."
      error={show('sshKeys')}
    >
      <Offered list={lists.keys}>
        {items.length > 0 && <KeyPicker keys={items} value={draft.keyIds} onChange={(keyIds) => change({ keyIds })} />}
      </Offered>
      <TextArea
        label={items.length > 0 ? 'Or paste public keys' : 'Paste public keys'}
        optional
        mono
        rows={2}
        className="mt-3"
        placeholder="ssh-ed25519 AAAA… you@laptop"
        hint="One per line."
        value={draft.pasted}
        onChange={(event) => change({ pasted: event.target.value })}
      />
    </FormSection>
  );
}
