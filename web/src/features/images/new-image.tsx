import { Tabs } from 'radix-ui';
import type { ChangeEvent } from 'react';
import { useTargetProject } from '../../app/shell/project-field';
import { useScope } from '../../app/scope';
import { vcctl } from '../../lib/command';
import { bytes, percent } from '../../lib/format';
import { Button } from '../../ui/button';
import { CommandLine } from '../../ui/command-line';
import { DialogActions } from '../../ui/dialogs/dialog';
import { Checkbox, SelectField, TextField } from '../../ui/forms/field';
import { FormProblem } from '../../ui/forms/form-problem';
import { Progress } from '../../ui/feedback/meter';
import { DropZone } from './drop-zone';
import { commandOptions, type Firmware } from './image-form';
import type { RunningUpload } from './uploads';
import { useNewImage, type NewImageForm } from './use-new-image';

export function NewImage({ onClose }: { onClose: () => void }) {
  const target = useTargetProject();
  const form = useNewImage(target.query, onClose);
  const { draft, error, busy, upload } = form;
  return (
    <form onSubmit={form.submit} noValidate className="space-y-4">
      {target.field}
      <SourceField form={form} />
      <Facts form={form} />
      {upload !== undefined && <UploadProgress upload={upload} />}
      <FormProblem error={error} fields={['checksum', 'kernel.commandLine', 'name', 'source', 'url', 'vmm']} />
      {draft.name !== '' && <CommandLine line={vcctl(['image', 'import'], commandOptions(draft))} />}
      <DialogActions>
        {upload !== undefined ? (
          <Button onClick={upload.abort}>Stop the upload</Button>
        ) : (
          <Button onClick={onClose}>Cancel</Button>
        )}
        <Button type="submit" look="primary" busy={busy}>
          {draft.source === 'file' ? 'Upload' : 'Import'}
        </Button>
      </DialogActions>
    </form>
  );
}

/** Where the bytes come from. */
function SourceField({ form: { draft, change, suggest, show, busy } }: { form: NewImageForm }) {
  return (
    <Tabs.Root value={draft.source} onValueChange={(next) => change({ source: next === 'url' ? 'url' : 'file' })}>
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
          file={draft.file}
          error={show('source')}
          onFile={(file) => {
            change({ file });
            suggest(file.name);
          }}
        />
        <KernelFields draft={draft} change={change} show={show} />
      </Tabs.Content>
      <Tabs.Content value="url">
        <TextField
          label="Address"
          type="url"
          value={draft.url}
          onChange={(e) => change({ url: e.target.value })}
          onBlur={() => suggest(draft.url)}
          error={show('url')}
          placeholder="https://…/disk.qcow2"
          hint="The server fetches it; your browser may be closed meanwhile."
        />
      </Tabs.Content>
    </Tabs.Root>
  );
}

/** What boots the disk, where the image brings it. */
function KernelFields({ draft, change, show }: Pick<NewImageForm, 'draft' | 'change' | 'show'>) {
  const chosen = ({ target }: ChangeEvent<HTMLInputElement>): File | null => target.files?.[0] ?? null;
  return (
    <div className="mt-4 space-y-4">
      <TextField
        label="Kernel"
        type="file"
        optional
        onChange={(e) => change({ kernel: chosen(e) })}
        hint="A bzImage or vmlinux that boots the image, whatever is on the disk."
      />
      {draft.kernel !== null && (
        <>
          <TextField
            label="Initramfs"
            type="file"
            optional
            onChange={(e) => change({ initramfs: chosen(e) })}
            hint="Sent with the kernel."
          />
          <TextField
            label="Command line"
            optional
            value={draft.commandLine}
            onChange={(e) => change({ commandLine: e.target.value })}
            error={show('commandLine') ?? show('kernel.commandLine')}
            placeholder="root=/dev/vda1 console=ttyS0"
            className="[&_input]:font-mono"
          />
        </>
      )}
    </div>
  );
}

/** What it is, and who sees it. */
function Facts({ form: { draft, change, show } }: { form: NewImageForm }) {
  const { admin } = useScope();
  return (
    <>
      <TextField
        label="Name"
        value={draft.name}
        onChange={(e) => change({ name: e.target.value })}
        error={show('name')}
        placeholder="debian-12"
      />
      <TextField
        label="Checksum"
        optional
        value={draft.checksum}
        onChange={(e) => change({ checksum: e.target.value })}
        error={show('checksum')}
        placeholder="sha256:…"
        className="[&_input]:font-mono"
      />
      {draft.kernel === null || draft.source === 'url' ? <FirmwareField draft={draft} change={change} /> : null}
      <TextField
        label="Virtual machine monitor"
        optional
        value={draft.vmm}
        onChange={(e) => change({ vmm: e.target.value })}
        error={show('vmm')}
        hint="Its kind, such as qemu. Empty: the flavor, the instance or the host chooses."
      />
      {admin && (
        <Checkbox
          label="Visible in all projects"
          checked={draft.open}
          onChange={(e) => change({ open: e.target.checked })}
        />
      )}
    </>
  );
}

/** What boots the disk. */
function FirmwareField({ draft, change }: Pick<NewImageForm, 'draft' | 'change'>) {
  return (
    <SelectField
      label="Firmware"
      value={draft.firmware}
      onChange={(e) => change({ firmware: e.target.value as Firmware })}
      hint="Instances go to hosts that have it."
    >
      <option value="any">As its partitions and boot sectors say</option>
      <option value="bios">BIOS</option>
      <option value="uefi">UEFI</option>
    </SelectField>
  );
}

function UploadProgress({ upload }: { upload: RunningUpload }) {
  return (
    <div>
      <Progress value={percent(upload.sent, upload.total)} label="Upload" />
      <p className="nums mt-1.5 text-xs text-dim" role="status">
        {bytes(upload.sent)} of {bytes(upload.total)} sent. You may close this dialog; the upload goes on while this tab
        is open.
      </p>
    </div>
  );
}
