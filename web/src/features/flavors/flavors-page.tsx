import { Gauge, Plus } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import { EditDialog } from '../../app/edit-dialog';
import { vendorDataField } from '../../app/vendor-data-field';
import { RemovalDialog, useRemoval } from '../../app/removal';
import { useScope } from '../../app/scope';
import { useNewDialog } from '../../app/use-new-dialog';
import { api } from '../../lib/api';
import { vcctl } from '../../lib/command';
import { bytes, parseBytes } from '../../lib/format';
import { fieldErrors } from '../../lib/problem';
import { useList, useWrite } from '../../lib/queries';
import type { CreateFlavor, Flavor } from '../../lib/types';
import { checkName } from '../../lib/validate';
import { Button } from '../../ui/button';
import { CommandLine } from '../../ui/command-line';
import { DeleteButton } from '../../ui/delete-button';
import { Dialog, DialogActions } from '../../ui/dialog';
import { EditButton } from '../../ui/edit-button';
import { TextField } from '../../ui/field';
import { FormProblem } from '../../ui/form-problem';
import { actionColumn, ListPage } from '../../ui/list-page';
import { RowActions } from '../../ui/row-actions';
import { useSearchFilter } from '../../ui/search-filter';
import { Cut } from '../../ui/table';
import { Age } from '../../ui/time';
import { toast } from '../../ui/toast';

const mib = 1024 ** 2;

export default function FlavorsPage() {
  const search = useSearchFilter();
  const { admin } = useScope();
  const list = useList('/flavors', { query: { q: search.q } });
  const dialog = useNewDialog(admin);
  const removal = useRemoval('flavor', (flavor: Flavor) => api.delete('/flavors/{ref}', { path: { ref: flavor.id } }), {
    touches: ['flavors'],
  });
  const [edited, setEdited] = useState<Flavor | null>(null);
  const reason = admin ? null : 'Only an administrator may change flavors.';
  const create = (
    <Button look="primary" icon={Plus} reason={reason} onClick={dialog.show}>
      New flavor
    </Button>
  );
  return (
    <ListPage
      title="Flavors"
      description="Sizes that instances can have: processors, memory, disk."
      actions={admin && create}
      list={list}
      search={search}
      empty={{
        icon: Gauge,
        title: 'No flavors yet',
        text: admin ? 'Nobody can create an instance before there is a flavor.' : 'Ask an administrator to create one.',
        action: admin && create,
      }}
      columns={[
        {
          head: 'Name',
          name: true,
          cell: (f) => (
            <>
              <Cut text={f.name} className="font-medium" />
              {f.description !== '' && <Cut text={f.description} className="text-xs text-dim" />}
            </>
          ),
        },
        { head: 'vCPUs', headClassName: 'text-right', className: 'text-right', cell: (f) => f.vcpus },
        {
          head: 'Memory',
          headClassName: 'text-right',
          className: 'text-right whitespace-nowrap',
          cell: (f) => bytes(f.memoryBytes),
        },
        {
          head: 'Disk',
          from: 'sm',
          headClassName: 'text-right',
          className: 'text-right whitespace-nowrap',
          cell: (f) => (f.diskBytes === 0 ? <span className="text-dim">as image</span> : bytes(f.diskBytes)),
        },
        { head: 'Age', from: 'md', className: 'text-dim', cell: (f) => <Age at={f.createdAt} /> },
        actionColumn<Flavor>(
          (f) =>
            admin && (
              <RowActions>
                <EditButton name={f.name} reason={reason} onClick={() => setEdited(f)} />
                <DeleteButton name={f.name} reason={reason} onClick={() => removal.ask(f)} />
              </RowActions>
            ),
        ),
      ]}
    >
      <Dialog open={dialog.open} onClose={dialog.hide} title="New flavor">
        <NewFlavor onClose={dialog.hide} />
      </Dialog>
      <EditDialog
        noun="flavor"
        path="/flavors/{ref}"
        item={edited}
        onClose={() => setEdited(null)}
        fields={[
          { key: 'name', label: 'Name', value: edited?.name ?? '', check: checkName },
          {
            key: 'description',
            label: 'Description',
            value: edited?.description ?? '',
            optional: true,
            hint: 'Sizes stay: instances were made with them.',
          },
          vendorDataField(edited?.vendorData, 'flavor'),
        ]}
      />
      <RemovalDialog removal={removal}>Instances made with it keep their size.</RemovalDialog>
    </ListPage>
  );
}

function NewFlavor({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [vcpus, setVcpus] = useState('1');
  const [memory, setMemory] = useState('512 MiB');
  const [disk, setDisk] = useState('');
  const [vmm, setVmm] = useState('');
  const [description, setDescription] = useState('');
  const [tried, setTried] = useState(false);
  const create = useWrite((body: CreateFlavor) => api.post('/flavors', { body }), {
    touches: ['flavors'],
    onDone: (flavor) => {
      toast.ok(`Flavor ${flavor.name} created`);
      onClose();
    },
  });
  const memoryBytes = parseBytes(memory, 'm');
  const diskBytes = disk.trim() === '' ? 0 : parseBytes(disk, 'g');
  const problems: Record<string, string | null> = {
    name: checkName(name),
    vcpus: /^\d+$/.test(vcpus) && Number(vcpus) >= 1 && Number(vcpus) <= 1024 ? null : 'A whole number from 1 to 1024.',
    memoryBytes:
      memoryBytes === null
        ? 'A size such as 512 MiB or 4 GiB.'
        : memoryBytes < 64 * mib
          ? 'At least 64 MiB.'
          : memoryBytes % mib === 0
            ? null
            : 'Whole mebibytes only.',
    diskBytes: diskBytes === null ? 'A size such as 10 GiB.' : diskBytes % mib === 0 ? null : 'Whole mebibytes only.',
  };
  const refused = fieldErrors(create.error);
  const show = (field: string): string | null => (tried ? problems[field] : null) ?? refused[field] ?? null;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setTried(true);
    if (
      create.isPending ||
      memoryBytes === null ||
      diskBytes === null ||
      Object.values(problems).some((p) => p !== null)
    )
      return;
    create.mutate({
      name,
      vcpus: Number(vcpus),
      memoryBytes,
      diskBytes,
      ...(vmm.trim() === '' ? {} : { vmm: vmm.trim() }),
      ...(description === '' ? {} : { description }),
    });
  };
  return (
    <form onSubmit={submit} noValidate className="space-y-4">
      <TextField
        label="Name"
        value={name}
        onChange={(e) => setName(e.target.value)}
        error={show('name')}
        placeholder="small"
        autoFocus
      />
      <div className="grid grid-cols-2 gap-3">
        <TextField
          label="vCPUs"
          inputMode="numeric"
          value={vcpus}
          onChange={(e) => setVcpus(e.target.value)}
          error={show('vcpus')}
        />
        <TextField
          label="Memory"
          value={memory}
          onChange={(e) => setMemory(e.target.value)}
          error={show('memoryBytes')}
        />
      </div>
      <TextField
        label="Root disk"
        optional
        value={disk}
        onChange={(e) => setDisk(e.target.value)}
        error={show('diskBytes')}
        placeholder="10 GiB"
        hint="Empty: as large as the image."
      />
      <TextField
        label="Virtual machine monitor"
        optional
        value={vmm}
        onChange={(e) => setVmm(e.target.value)}
        error={show('vmm')}
        hint="Its kind, such as qemu. Empty: the host chooses."
      />
      <TextField
        label="Description"
        optional
        value={description}
        onChange={(e) => setDescription(e.target.value)}
        error={show('description')}
      />
      <FormProblem error={create.error} fields={['name', 'vcpus', 'memoryBytes', 'diskBytes', 'vmm', 'description']} />
      {name !== '' && (
        <CommandLine
          line={vcctl(['flavor', 'create', name], {
            vcpus,
            memory: memory.replaceAll(' ', ''),
            disk: disk.replaceAll(' ', ''),
            vmm: vmm.trim(),
            description,
          })}
        />
      )}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" busy={create.isPending}>
          Create flavor
        </Button>
      </DialogActions>
    </form>
  );
}
