import { FileUp, X } from 'lucide-react';
import { useId } from 'react';
import { maxUserDataBytes } from '../../../../../src/modules/compute/contract/compute.api';
import { bytes, utf8Length } from '../../../lib/format';
import type { DataFile } from './data-file';
import { Button } from '../../../ui/button';
import { TextArea } from '../../../ui/forms/field';

interface Props {
  text: string;
  file: DataFile | null;
  onText: (text: string) => void;
  onFile: (file: DataFile | null) => void;
  error: string | null;
}

/** User data, typed or as a file. A file goes to the guest byte for byte, compressed or not. */
export function UserDataField({ text, file, onText, onFile, error }: Props) {
  const id = useId();
  const choose = async (chosen: File | undefined): Promise<void> => {
    if (chosen === undefined) return;
    // One that is far too large is not read, only told.
    const head = chosen.size > 64 * maxUserDataBytes ? chosen.slice(0, maxUserDataBytes + 1) : chosen;
    onFile({ name: chosen.name, bytes: new Uint8Array(await head.arrayBuffer()) });
  };
  return (
    <div>
      {file === null ? (
        <TextArea
          label="User data"
          optional
          mono
          rows={6}
          placeholder="#cloud-config"
          value={text}
          onChange={(event) => onText(event.target.value)}
          error={error}
          hint={`Handed to the guest as it is. ${bytes(utf8Length(text))} of 64 KiB.`}
        />
      ) : (
        <div
          role="group"
          aria-label="User data"
          {...(error === null ? {} : { 'data-invalid': true, tabIndex: -1 })}
          className="outline-none"
        >
          <p className="mb-1.5 text-sm font-medium">User data</p>
          <div className="flex items-center gap-3 rounded-md border border-line-strong px-2.5 py-1.5 text-sm">
            <span title={file.name} className="min-w-0 flex-1 truncate font-mono text-xs">
              {file.name}
            </span>
            <span className="nums shrink-0 text-xs text-dim">{bytes(file.bytes.length)}</span>
            <Button
              look="ghost"
              size="icon-sm"
              icon={X}
              aria-label={`Leave out ${file.name}`}
              onClick={() => onFile(null)}
            />
          </div>
          {error !== null && <p className="mt-1.5 text-xs text-bad">{error}</p>}
          <p className="mt-1.5 text-xs text-dim">Handed to the guest byte for byte. At most 64 KiB.</p>
        </div>
      )}
      <label
        htmlFor={id}
        className="mt-2 inline-flex cursor-pointer items-center gap-1.5 rounded text-sm font-medium text-accent-text hover:underline has-focus-visible:outline-2 has-focus-visible:outline-accent-text"
      >
        <FileUp aria-hidden className="size-3.5" />
        {file === null ? 'Take a file instead' : 'Take another file'}
        <input
          id={id}
          type="file"
          className="sr-only"
          onChange={(event) => {
            void choose(event.target.files?.[0]);
            // The same file may be chosen again after it was changed.
            event.target.value = '';
          }}
        />
      </label>
    </div>
  );
}
