import { FileDown, Trash2 } from 'lucide-react';
import { useEffect, useState, type FormEvent } from 'react';
import { coreDumpFormats, type CoreDumpFormat } from '../../../../src/modules/compute/contract/core-dump-formats';
import type { AnswerOf } from '../../../../src/rest/rest-call';
import { api } from '../../lib/api';
import { vcctl } from '../../lib/command';
import { bytes } from '../../lib/format';
import { taskIdOf, useOne, useWrite } from '../../lib/queries';
import type { Instance } from '../../lib/types';
import { Button } from '../../ui/button';
import { CommandLine } from '../../ui/command-line';
import { ConfirmDelete } from '../../ui/dialogs/confirm-delete';
import { Dialog, DialogActions } from '../../ui/dialogs/dialog';
import { SelectField } from '../../ui/forms/field';
import { FormProblem } from '../../ui/forms/form-problem';
import { Head, Row, Table, Td, Th } from '../../ui/lists/table';
import { Card } from '../../ui/page';
import { Age } from '../../ui/time';
import { followTask } from '../tasks/open-task';
import { whyNot } from './instance-rules';

type CoreDump = AnswerOf<'get', '/instances/{ref}/core-dumps'>['items'][number];

const words: Record<CoreDumpFormat, string> = {
  elf: 'ELF, for every tool',
  'kdump-zlib': 'kdump, compressed, for crash (QEMU only)',
};
/** Milliseconds: its host is asked anew. */
const everyMs = { busy: 2_000, idle: 15_000 } as const;

/** What its host has kept of what was in its memory. Only for who may read it. */
export function InstanceCoreDumps({ instance: i }: { instance: Instance }) {
  const [making, setMaking] = useState(false);
  const [leaving, setLeaving] = useState<CoreDump | null>(null);
  const { data, error, refetch } = useOne('/instances/{ref}/core-dumps', i.id, {
    everyMs: i.taskId === null ? everyMs.idle : everyMs.busy,
  });
  // What a task has made or removed shows when it is over.
  useEffect(() => void refetch(), [i.taskId, refetch]);
  const [newest] = data?.items ?? [];
  return (
    <Card
      title="Core dumps"
      action={
        <Button size="sm" icon={FileDown} reason={whyNot(i, 'core-dump', null)} onClick={() => setMaking(true)}>
          Dump its memory…
        </Button>
      }
    >
      {newest === undefined ? (
        <p className="px-4 py-3 text-sm text-dim">
          {data !== undefined ? 'None.' : error === null ? 'Asking its host…' : error.message}
        </p>
      ) : (
        <>
          <DumpTable dumps={data?.items ?? []} onDelete={setLeaving} />
          <div className="px-4 pb-4">
            <CommandLine
              line={vcctl(['instance', 'download-core-dump', i.name, newest.id], { file: `${i.name}.core` })}
            />
          </div>
        </>
      )}
      <MakeCoreDump instance={i} open={making} onClose={() => setMaking(false)} />
      <DeleteCoreDump instance={i} dump={leaving} onClose={() => setLeaving(null)} />
    </Card>
  );
}

function DumpTable({ dumps, onDelete }: { dumps: readonly CoreDump[]; onDelete: (dump: CoreDump) => void }) {
  return (
    <Table label="Core dumps">
      <Head>
        <Th>Made</Th>
        <Th>Format</Th>
        <Th className="text-right">Size</Th>
        <Th>
          <span className="sr-only">Actions</span>
        </Th>
      </Head>
      <tbody>
        {dumps.map((dump) => (
          <Row key={dump.id}>
            <Td>
              <Age at={dump.createdAt} suffix=" ago" />
            </Td>
            <Td>{dump.format}</Td>
            <Td className="text-right whitespace-nowrap">{bytes(dump.bytes)}</Td>
            <Td className="text-right">
              <Button
                look="ghost"
                size="icon-sm"
                icon={Trash2}
                aria-label={`Delete core dump ${dump.id}`}
                hint="Delete…"
                onClick={() => onDelete(dump)}
              />
            </Td>
          </Row>
        ))}
      </tbody>
    </Table>
  );
}

interface Props {
  instance: Instance;
  onClose: () => void;
}

function MakeCoreDump({ instance, open, onClose }: Props & { open: boolean }) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={`Dump the memory of ${instance.name}`}
      description="It stands still while its memory is written into a file on its host, and goes on afterwards. The file holds whatever secrets its guest has in memory."
    >
      {open && <MakeForm instance={instance} onClose={onClose} />}
    </Dialog>
  );
}

function MakeForm({ instance, onClose }: Props) {
  const [format, setFormat] = useState<CoreDumpFormat>('elf');
  const write = useWrite(
    () => api.post('/instances/{ref}/actions/core-dump', { path: { ref: instance.id }, body: { format } }),
    {
      touches: ['instances', `instances/${instance.id}`, 'tasks'],
      onDone: (answer) => {
        onClose();
        followTask(taskIdOf(answer));
      },
    },
  );
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!write.isPending) write.mutate(undefined);
  };
  return (
    <form onSubmit={submit} noValidate className="space-y-4">
      <SelectField
        label="Format"
        value={format}
        onChange={(event) => setFormat(coreDumpFormats.find((one) => one === event.target.value) ?? 'elf')}
      >
        {coreDumpFormats.map((one) => (
          <option key={one} value={one}>
            {words[one]}
          </option>
        ))}
      </SelectField>
      <FormProblem error={write.error} fields={[]} />
      <CommandLine
        line={vcctl(['instance', 'core-dump', instance.name], { format: format === 'elf' ? undefined : format })}
      />
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" busy={write.isPending}>
          Dump its memory
        </Button>
      </DialogActions>
    </form>
  );
}

function DeleteCoreDump({ instance, dump, onClose }: Props & { dump: CoreDump | null }) {
  const remove = useWrite(
    (id: string) => api.delete('/instances/{ref}/core-dumps/{dump}', { path: { ref: instance.id, dump: id } }),
    {
      touches: [`instances/${instance.id}`, 'tasks'],
      onDone: ({ taskId }) => {
        followTask(taskId);
        onClose();
      },
    },
  );
  return (
    <ConfirmDelete
      open={dump !== null}
      onClose={onClose}
      noun="core dump"
      phrase={instance.name}
      busy={remove.isPending}
      error={remove.error}
      command={vcctl(['instance', 'delete-core-dump', instance.name, dump?.id ?? ''])}
      onConfirm={() => dump !== null && remove.mutate(dump.id)}
    >
      <p>Its host removes the file. What was downloaded of it stays.</p>
    </ConfirmDelete>
  );
}
