import { Terminal } from 'lucide-react';
import { CopyButton } from './copy';

/** The same as a command: what a form or a dialog is about to do, for a script or for the next time. */
export function CommandLine({ line }: { line: string }) {
  return (
    <div className="mt-4 flex items-start gap-2 rounded-md bg-sunken px-2.5 py-1.5 text-xs">
      <Terminal aria-hidden className="mt-0.5 size-3.5 shrink-0 text-dim" />
      <code
        aria-label="The same by vcctl"
        className="max-h-24 min-w-0 flex-1 overflow-y-auto font-mono break-words whitespace-pre-wrap"
      >
        {line.split(' ').map((word, n) => (
          // An option is not torn at its dashes.
          <span key={n} className="inline-block max-w-full">
            {word}{' '}
          </span>
        ))}
      </code>
      <CopyButton text={line} label="Copy the command" />
    </div>
  );
}
