import { ChevronRight } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useScope } from '../../../app/scope';
import { SelectField, TextField } from '../../../ui/forms/field';
import type { CreateForm } from './use-create-form';
import { UserDataField } from './user-data-field';

/** What most instances do without. It opens by itself when something in it is wrong. */
export function MoreSection({ form }: { form: CreateForm }) {
  const { draft, change, show } = form;
  const { admin } = useScope();
  const wrong =
    show('userData') ??
    show('configDrive') ??
    show('stopGraceSeconds') ??
    show('description') ??
    show('vmm') ??
    show('host');
  const [open, setOpen] = useState(false);
  useEffect(() => {
    if (wrong !== null) setOpen(true);
  }, [wrong]);
  return (
    <details
      className="group border-t border-line pt-5"
      open={open}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary className="flex cursor-pointer list-none items-center gap-1.5 rounded text-sm font-semibold">
        <ChevronRight aria-hidden className="size-4 text-dim transition-transform group-open:rotate-90" />
        More: user data, config drive, description, stopping, VMM{admin && ', host'}
      </summary>
      <div className="mt-4 space-y-4">
        <UserDataField
          text={draft.userData}
          file={draft.dataFile}
          onText={(userData) => change({ userData })}
          onFile={(dataFile) => change({ dataFile })}
          error={show('userData')}
        />
        <SelectField
          label="Config drive"
          optional
          value={draft.configDrive}
          onChange={(event) => change({ configDrive: event.target.value })}
          error={show('configDrive')}
          hint="A disk with what the metadata service tells, for guests that cannot ask it."
          className="max-w-sm"
        >
          <option value="">None</option>
          <option value="openstack">OpenStack (config-2)</option>
          <option value="nocloud">NoCloud (cidata)</option>
        </SelectField>
        <TextField
          label="Description"
          optional
          value={draft.description}
          onChange={(event) => change({ description: event.target.value })}
          error={show('description')}
        />
        <TextField
          label="Seconds to wait for the guest when stopping"
          inputMode="numeric"
          value={draft.grace}
          onChange={(event) => change({ grace: event.target.value })}
          error={show('stopGraceSeconds')}
          className="max-w-sm"
        />
        <TextField
          label="Virtual machine monitor"
          optional
          value={draft.vmm}
          onChange={(event) => change({ vmm: event.target.value })}
          error={show('vmm')}
          hint="Its kind, such as qemu or cloud-hypervisor. Without one the host chooses."
          className="max-w-sm"
        />
        {admin && <HostField form={form} />}
      </div>
    </details>
  );
}

/** Administrators may say where it runs. */
function HostField({ form: { lists, draft, change, show } }: { form: CreateForm }) {
  return (
    <SelectField
      label="Host"
      optional
      value={draft.host}
      onChange={(event) => change({ host: event.target.value })}
      error={show('host')}
      className="max-w-sm"
    >
      <option value="">Let the scheduler choose</option>
      {lists.hosts.items.map((h) => (
        <option key={h.id} value={h.id}>
          {h.name} ({h.state})
        </option>
      ))}
    </SelectField>
  );
}
