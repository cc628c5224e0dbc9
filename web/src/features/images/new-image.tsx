import { FileUp } from 'lucide-react';
import { Tabs } from 'radix-ui';
import { useId, useState, type FormEvent } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { useTargetProject } from '../../app/project-field';
import { useScope } from '../../app/scope';
import { api } from '../../lib/api';
import { vcctl } from '../../lib/command';
import { bytes, percent } from '../../lib/format';
import { fieldErrors, type ApiError } from '../../lib/problem';
import { useWrite } from '../../lib/queries';
import { useStore } from '../../lib/store';
import type { CreateImage, Image } from '../../lib/types';
import { checkName } from '../../lib/validate';
import { Button } from '../../ui/button';
import { CommandLine } from '../../ui/command-line';
import { cx } from '../../ui/cx';
import { DialogActions } from '../../ui/dialog';
import { Checkbox, SelectField, TextField } from '../../ui/field';
import { Progress } from '../../ui/meter';
import { FormProblem } from '../../ui/form-problem';
import { toast } from '../../ui/toast';
import { followTask } from '../tasks/open-task';
import { sendImage, uploads } from './uploads';

type Source = 'file' | 'url';
type Firmware = NonNullable<CreateImage['firmware']>;

const checkUrl = (value: string): string | null => {
  try {
    return /^https?:$/.test(new URL(value).protocol) ? null : 'An http or https address.';
  } catch {
    return 'An http or https address.';
  }
};
const checkChecksum = (value: string): string | null =>
  value === '' || /^(sha256:|sha512:)?([0-9a-f]{64}|[0-9a-f]{128})$/i.test(value)
    ? null
    : 'sha256:… or sha512:…, in hexadecimal.';

export function NewImage({ onClose }: { onClose: () => void }) {
  const { admin } = useScope();
  const queries = useQueryClient();
  const target = useTargetProject();
  const [source, setSource] = useState<Source>('file');
  const [file, setFile] = useState<File | null>(null);
  const [url, setUrl] = useState('');
  const [name, setName] = useState('');
  const [checksum, setChecksum] = useState('');
  const [firmware, setFirmware] = useState<Firmware>('any');
  const [open, setOpen] = useState(false);
  const [tried, setTried] = useState(false);
  const running = useStore(uploads);
  const [imageId, setImageId] = useState<string | null>(null);
  const [failed, setFailed] = useState<ApiError | null>(null);
  const progress = running.find((u) => u.imageId === imageId);

  const send = async (image: Image, chosen: File): Promise<void> => {
    setImageId(image.id);
    try {
      const answer = await sendImage(image, chosen);
      onClose();
      const task = answer.taskId;
      if (task === null) toast.ok(`${image.name} uploaded`);
      else followTask(task);
    } catch (error) {
      const problem = error as ApiError;
      setFailed(problem);
      setImageId(null);
      toast.bad(`${image.name} was not uploaded`, problem);
      // What waits for bytes that will not come is of no use to anybody.
      await api.delete('/images/{ref}', { path: { ref: image.id } }).catch(() => undefined);
    } finally {
      void queries.invalidateQueries({ queryKey: ['images'] });
    }
  };
  const create = useWrite((body: CreateImage) => api.post('/images', { body, query: target.query }), {
    touches: ['images', 'tasks'],
    onDone: (image) => {
      if (source === 'file' && file !== null) return void send(image, file);
      onClose();
      followTask(image.taskId);
    },
  });

  const problems: Record<string, string | null> = {
    name: checkName(name),
    source:
      source === 'file' ? (file === null ? 'Choose a file.' : file.size === 0 ? 'This file is empty.' : null) : null,
    url: source === 'url' ? checkUrl(url.trim()) : null,
    checksum: checkChecksum(checksum.trim()),
  };
  const error = create.error ?? failed;
  const refused = fieldErrors(error);
  const show = (field: string): string | null => (tried ? problems[field] : null) ?? refused[field] ?? null;
  const busy = create.isPending || imageId !== null;
  const suggest = (path: string): void => {
    const stem = (
      path
        .split(/[/?#]/)
        .filter((p) => p !== '')
        .at(-1) ?? ''
    )
      .replace(/\.(img|raw|qcow2|bin)$/i, '')
      .slice(0, 63);
    if (name === '' && checkName(stem) === null) setName(stem);
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setTried(true);
    setFailed(null);
    if (busy || Object.values(problems).some((p) => p !== null)) return;
    create.mutate({
      name,
      ...(source === 'url' ? { url: url.trim() } : {}),
      ...(checksum.trim() === '' ? {} : { checksum: checksum.trim() }),
      ...(firmware === 'any' ? {} : { firmware }),
      ...(open ? { public: true } : {}),
    });
  };

  return (
    <form onSubmit={submit} noValidate className="space-y-4">
      {target.field}
      <Tabs.Root value={source} onValueChange={(next) => setSource(next === 'url' ? 'url' : 'file')}>
        <Tabs.List aria-label="Source" className="mb-3 grid grid-cols-2 gap-1 rounded-lg bg-idle-soft p-1">
          {(['file', 'url'] as const).map((s) => (
            <Tabs.Trigger
              key={s}
              value={s}
              disabled={busy}
              className="h-7 rounded-md text-sm text-dim data-[state=active]:bg-raised data-[state=active]:font-medium data-[state=active]:text-ink data-[state=active]:shadow-lift"
            >
              {s === 'file' ? 'From this computer' : 'From an address'}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        <Tabs.Content value="file">
          <DropZone
            file={file}
            error={show('source')}
            onFile={(chosen) => {
              setFile(chosen);
              suggest(chosen.name);
            }}
          />
        </Tabs.Content>
        <Tabs.Content value="url">
          <TextField
            label="Address"
            type="url"
            value={url}
            onChange={(e) => setUrl(e.target.value)}
            onBlur={() => suggest(url)}
            error={show('url')}
            placeholder="https://…/disk.qcow2"
            hint="The server fetches it; your browser may be closed meanwhile."
          />
        </Tabs.Content>
      </Tabs.Root>
      <TextField
        label="Name"
        value={name}
        onChange={(e) => setName(e.target.value)}
        error={show('name')}
        placeholder="debian-12"
      />
      <TextField
        label="Checksum"
        optional
        value={checksum}
        onChange={(e) => setChecksum(e.target.value)}
        error={show('checksum')}
        placeholder="sha256:…"
        className="[&_input]:font-mono"
      />
      <SelectField
        label="Firmware"
        value={firmware}
        onChange={(e) => setFirmware(e.target.value as Firmware)}
        hint="Name one when the disk boots by it only: instances then go to hosts that have it."
      >
        <option value="any">Whatever the host has</option>
        <option value="bios">BIOS</option>
        <option value="uefi">UEFI</option>
      </SelectField>
      {admin && <Checkbox label="Visible in all projects" checked={open} onChange={(e) => setOpen(e.target.checked)} />}
      {progress !== undefined && (
        <div>
          <Progress value={percent(progress.sent, progress.total)} label="Upload" />
          <p className="nums mt-1.5 text-xs text-dim" role="status">
            {bytes(progress.sent)} of {bytes(progress.total)} sent. You may close this dialog; the upload goes on while
            this tab is open.
          </p>
        </div>
      )}
      <FormProblem error={error} fields={['checksum', 'name', 'source', 'url']} />
      {name !== '' && (
        <CommandLine
          line={vcctl(['image', 'import'], {
            ...(source === 'file' ? { file: file?.name ?? 'disk.img' } : { url: url.trim() }),
            name,
            checksum: checksum.trim(),
            firmware: firmware === 'any' ? '' : firmware,
            public: open,
          })}
        />
      )}
      <DialogActions>
        {progress !== undefined ? (
          <Button onClick={progress.abort}>Stop the upload</Button>
        ) : (
          <Button onClick={onClose}>Cancel</Button>
        )}
        <Button type="submit" look="primary" busy={busy}>
          {source === 'file' ? 'Upload' : 'Import'}
        </Button>
      </DialogActions>
    </form>
  );
}

function DropZone({ file, error, onFile }: { file: File | null; error: string | null; onFile: (file: File) => void }) {
  const id = useId();
  const [over, setOver] = useState(false);
  return (
    <div>
      <label
        htmlFor={id}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          const dropped = event.dataTransfer.files[0];
          if (dropped !== undefined) onFile(dropped);
        }}
        className={cx(
          'flex cursor-pointer flex-col items-center rounded-lg border border-dashed px-4 py-6 text-center text-sm has-focus-visible:outline-2 has-focus-visible:outline-accent-text',
          over ? 'border-accent bg-accent-soft' : 'border-line-strong hover:bg-sunken',
        )}
      >
        <FileUp aria-hidden className="mb-2 size-5 text-dim" />
        {file === null ? (
          <>
            <span className="font-medium">Choose a disk image, or drop it here</span>
            <span className="mt-0.5 text-xs text-dim">raw or qcow2, without a backing file</span>
          </>
        ) : (
          <>
            <span className="max-w-full truncate font-medium">{file.name}</span>
            <span className="nums mt-0.5 text-xs text-dim">{bytes(file.size)}</span>
          </>
        )}
        <input
          id={id}
          type="file"
          className="sr-only"
          aria-invalid={error === null ? undefined : true}
          onChange={(event) => {
            const chosen = event.target.files?.[0];
            if (chosen !== undefined) onFile(chosen);
          }}
        />
      </label>
      {error !== null && <p className="mt-1.5 text-xs text-bad">{error}</p>}
    </div>
  );
}
