import { ChevronRight } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useScope } from '../../../app/scope';
import { Checkbox, SelectField, TextField } from '../../../ui/forms/field';
import type { CreateForm } from './use-create-form';
import { UserDataField } from './user-data-field';

/** What it asks for, by member of the request. */
const members = [
  'userData',
  'configDrive',
  'stopGraceSeconds',
  'restartPolicy',
  'description',
  'machine.secureBoot',
  'machine.watchdog',
  'machine.panic',
  'shares',
  'maxVcpus',
  'maxMemoryBytes',
  'vmm',
  'host',
];

/** What most instances do without. It opens by itself when something in it is wrong. */
export function MoreSection({ form }: { form: CreateForm }) {
  const { draft, change, show } = form;
  const { admin } = useScope();
  const wrong = members.map(show).find((problem) => problem !== null) ?? null;
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
        More: user data, config drive, description, stopping, failures, watchdog, Secure Boot, TPM, balloon, vsock,
        shares, room to grow, VMM
        {admin && ', host'}
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
        <RestartField form={form} />
        <MachineFields form={form} />
        <ShareFields form={form} />
        <MaximumFields form={form} />
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

/** What is asked of the machine itself. */
function MachineFields({ form }: { form: CreateForm }) {
  const { draft, change, show } = form;
  const unfit = show('machine.secureBoot');
  return (
    <fieldset className="space-y-2.5">
      <legend className="mb-1.5 text-sm font-medium">Machine</legend>
      <Checkbox
        label="Secure Boot"
        hint="It starts only what is signed by a key that its UEFI trusts."
        checked={draft.secureBoot}
        onChange={(event) => change({ secureBoot: event.target.checked })}
      />
      {unfit !== null && <p className="text-xs text-bad">{unfit}</p>}
      <Checkbox
        label="TPM 2.0"
        hint="A trusted platform module of its own, whose secrets go with the instance."
        checked={draft.tpm}
        onChange={(event) => change({ tpm: event.target.checked })}
      />
      <Checkbox
        label="Balloon"
        hint="Memory that its guest frees goes to its host by itself, and more of it when you ask."
        checked={draft.balloon}
        onChange={(event) => change({ balloon: event.target.checked })}
      />
      <Checkbox
        label="Vsock"
        hint="Ports of its guest are reached without a network, by vcctl instance vsock. Not on QEMU."
        checked={draft.vsock}
        onChange={(event) => change({ vsock: event.target.checked })}
      />
      <PolicyFields form={form} />
    </fieldset>
  );
}

/** Directories of hosts that its guest can mount; nothing where the project is given none. */
function ShareFields({ form: { draft, change, show, lists } }: { form: CreateForm }) {
  const { items } = lists.shares;
  if (items.length === 0) return null;
  const wrong = show('shares');
  const set = (name: string, reads: boolean | null): void => {
    const { [name]: _before, ...others } = draft.shares;
    change({ shares: reads === null ? others : { ...others, [name]: reads } });
  };
  return (
    <fieldset className="space-y-2.5">
      <legend className="mb-1.5 text-sm font-medium">Shares</legend>
      {items.map(({ name, readonly }) => (
        <div key={name} className="space-y-1.5">
          <Checkbox
            label={name}
            hint={`Its guest mounts it: mount -t virtiofs ${name} /mnt${readonly ? '. For reading only.' : ''}`}
            checked={draft.shares[name] !== undefined}
            onChange={(event) => set(name, event.target.checked ? readonly : null)}
          />
          {draft.shares[name] !== undefined && !readonly && (
            <div className="pl-6">
              <Checkbox
                label={`Only read ${name}`}
                checked={draft.shares[name] === true}
                onChange={(event) => set(name, event.target.checked)}
              />
            </div>
          )}
        </div>
      ))}
      {wrong !== null && <p className="text-xs text-bad">{wrong}</p>}
    </fieldset>
  );
}

/** What a resize may give it while it runs. */
function MaximumFields({ form: { draft, change, show } }: { form: CreateForm }) {
  return (
    <div className="grid max-w-md grid-cols-1 gap-4 sm:grid-cols-2">
      <TextField
        label="Most vCPUs"
        optional
        inputMode="numeric"
        value={draft.maxVcpus}
        onChange={(event) => change({ maxVcpus: event.target.value })}
        error={show('maxVcpus')}
        hint="That a resize may give it while it runs."
      />
      <TextField
        label="Most memory"
        optional
        placeholder="8 GiB"
        value={draft.maxMemory}
        onChange={(event) => change({ maxMemory: event.target.value })}
        error={show('maxMemoryBytes')}
        hint="Only what its flavor has is claimed."
      />
    </div>
  );
}

/** What becomes of it after a failure. */
function RestartField({ form: { draft, change, show } }: { form: CreateForm }) {
  return (
    <SelectField
      label="After a failure"
      optional
      value={draft.restartPolicy}
      onChange={(event) => change({ restartPolicy: event.target.value })}
      error={show('restartPolicy')}
      hint="Its machine crashed, or its guest panicked. One that its guest powered off stays off."
      className="max-w-sm"
    >
      <option value="">Stays as it is, with the reason</option>
      <option value="on-failure">Started again by its host, a few times</option>
    </SelectField>
  );
}

/** What becomes of it when its guest hangs or panics. */
function PolicyFields({ form: { draft, change, show } }: { form: CreateForm }) {
  const actions = (
    <>
      <option value="restart">It is restarted</option>
      <option value="stop">It is stopped</option>
      <option value="notify">It goes on, and it is told</option>
    </>
  );
  return (
    <>
      <SelectField
        label="Watchdog"
        optional
        value={draft.watchdog}
        onChange={(event) => change({ watchdog: event.target.value })}
        error={show('machine.watchdog')}
        hint="A device that its guest has to tell, again and again, that it is well. It fires when the guest does not."
        className="max-w-sm"
      >
        <option value="">None</option>
        {actions}
      </SelectField>
      <SelectField
        label="When its guest panics"
        optional
        value={draft.panic}
        onChange={(event) => change({ panic: event.target.value })}
        error={show('machine.panic')}
        className="max-w-sm"
      >
        <option value="">As after any failure</option>
        {actions}
      </SelectField>
    </>
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
