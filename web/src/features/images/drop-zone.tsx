import { FileUp } from 'lucide-react';
import { useId, useState } from 'react';
import { bytes } from '../../lib/format';
import { cx } from '../../ui/cx';

interface Props {
  file: File | null;
  error: string | null;
  onFile: (file: File) => void;
}

/** Where a file is dropped, or chosen. */
export function DropZone({ file, error, onFile }: Props) {
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
