import { X } from 'lucide-react';
import { Dialog as D } from 'radix-ui';
import { useRef, type ReactNode } from 'react';
import { cx } from '../cx';

interface Props {
  open: boolean;
  onClose: () => void;
  title: string;
  description?: ReactNode;
  children: ReactNode;
  wide?: boolean;
}

/** A modal dialog: focus is kept inside and returns where it was; Escape closes. */
export function Dialog({ open, onClose, title, description, children, wide = false }: Props) {
  const content = useRef<HTMLDivElement>(null);
  return (
    <D.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <D.Portal>
        <D.Overlay className="fixed inset-0 z-40 bg-shade" />
        <D.Content
          ref={content}
          onOpenAutoFocus={(event) => {
            // A form focuses its first field itself; else the dialog is read from its start.
            event.preventDefault();
            if (content.current?.contains(document.activeElement) !== true) content.current?.focus();
          }}
          {...(description === undefined ? { 'aria-describedby': undefined } : {})}
          className={cx(
            'fixed z-50 flex outline-none max-h-[calc(100dvh-2rem)] animate-appear flex-col overflow-hidden rounded-xl bg-raised shadow-float',
            'inset-x-3 bottom-3 sm:inset-x-auto sm:bottom-auto sm:top-[12vh] sm:left-1/2 sm:w-[calc(100%-2rem)] sm:max-h-[80vh] sm:-translate-x-1/2',
            wide ? 'sm:max-w-2xl' : 'sm:max-w-md',
          )}
        >
          <div className="flex items-start gap-4 px-5 pt-4 pb-1">
            <div className="min-w-0 flex-1">
              <D.Title className="text-base font-semibold">{title}</D.Title>
              {description !== undefined && (
                <D.Description className="mt-1 text-sm text-dim">{description}</D.Description>
              )}
            </div>
            <D.Close aria-label="Close" className="-mr-2 rounded-md p-1.5 text-dim hover:bg-sunken hover:text-ink">
              <X aria-hidden className="size-4" />
            </D.Close>
          </div>
          <div className="min-h-0 overflow-y-auto px-5 pt-3 pb-5">{children}</div>
        </D.Content>
      </D.Portal>
    </D.Root>
  );
}

/** The row of buttons that ends a dialog. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <div className="mt-5 flex flex-wrap justify-end gap-2">{children}</div>;
}
