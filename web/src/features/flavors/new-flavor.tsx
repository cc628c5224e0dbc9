import { api } from '../../lib/api';
import { vcctl } from '../../lib/command';
import { useWrite } from '../../lib/queries';
import { useForm, type FieldProps } from '../../lib/use-form';
import type { CreateFlavor } from '../../lib/types';
import { Button } from '../../ui/button';
import { CommandLine } from '../../ui/command-line';
import { DialogActions } from '../../ui/dialogs/dialog';
import { TextField } from '../../ui/forms/field';
import { FormProblem } from '../../ui/forms/form-problem';
import { toast } from '../../ui/feedback/toast';
import { HardwareFields } from './hardware-fields';
import type { LimitsDraft } from './limits-form';
import { bodyOf, commandOptions, emptyFlavor, problemsOf } from './flavor-form';

/** How fast disks and cards are. */
function LimitFields({ field }: { field: (key: keyof LimitsDraft, member: string) => FieldProps }) {
  return (
    <div className="grid grid-cols-2 gap-3">
      <TextField
        label="Disk requests a second"
        optional
        inputMode="numeric"
        {...field('diskIops', 'limits.disk.iops')}
        hint="Of all its disks together."
      />
      <TextField
        label="Disk bytes a second"
        optional
        {...field('diskRate', 'limits.disk.bytesPerSecond')}
        placeholder="100 MiB"
        hint="Of all its disks together."
      />
      <TextField
        label="NIC bytes a second"
        optional
        {...field('nicRate', 'limits.nic.bytesPerSecond')}
        placeholder="125 MiB"
        hint="Of each, each way by itself."
      />
      <TextField
        label="Burst, in seconds"
        optional
        inputMode="numeric"
        {...field('burst', 'limits.disk.burstSeconds')}
        hint="What was not used for so long may be used at once; 1 when empty."
      />
    </div>
  );
}

export function NewFlavor({ onClose }: { onClose: () => void }) {
  const create = useWrite((body: CreateFlavor) => api.post('/flavors', { body }), {
    touches: ['flavors'],
    onDone: (flavor) => {
      toast.ok(`Flavor ${flavor.name} created`);
      onClose();
    },
  });
  const { draft, change, field, submit } = useForm(emptyFlavor, create, problemsOf, bodyOf);
  return (
    <form onSubmit={submit} noValidate className="space-y-4">
      <TextField label="Name" {...field('name')} placeholder="small" autoFocus />
      <div className="grid grid-cols-2 gap-3">
        <TextField label="vCPUs" inputMode="numeric" {...field('vcpus')} />
        <TextField label="Memory" {...field('memory', 'memoryBytes')} />
      </div>
      <TextField
        label="Root disk"
        optional
        {...field('disk', 'diskBytes')}
        placeholder="10 GiB"
        hint="Empty: as large as the image."
      />
      <TextField
        label="Virtual machine monitor"
        optional
        {...field('vmm')}
        hint="Its kind, such as qemu. Empty: the host chooses."
      />
      <LimitFields field={field} />
      <HardwareFields
        draft={draft}
        change={change}
        cpuModel={field('cpuModel', 'hardware.cpuModel')}
        numaNodes={field('numaNodes', 'hardware.numaNodes')}
      />
      <TextField label="Description" optional {...field('description')} />
      <FormProblem
        error={create.error}
        fields={[
          'name',
          'vcpus',
          'memoryBytes',
          'diskBytes',
          'vmm',
          'limits.disk.iops',
          'limits.disk.bytesPerSecond',
          'limits.nic.bytesPerSecond',
          'limits.disk.burstSeconds',
          'hardware.cpuModel',
          'hardware.numaNodes',
          'description',
        ]}
      />
      {draft.name !== '' && <CommandLine line={vcctl(['flavor', 'create', draft.name], commandOptions(draft))} />}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" busy={create.isPending}>
          Create flavor
        </Button>
      </DialogActions>
    </form>
  );
}
