import { Tooltip as T } from 'radix-ui';
import type { ReactNode } from 'react';
import { layer } from '../dialogs/layer';

/** A hint on hover and focus. With no text it is only its child. */
export function Tooltip({
  text,
  side = 'top',
  children,
}: {
  text: ReactNode;
  side?: 'top' | 'right' | 'bottom' | 'left';
  children: ReactNode;
}) {
  if (text === null || text === undefined || text === '') return children;
  return (
    <T.Root>
      <T.Trigger asChild>{children}</T.Trigger>
      <T.Portal container={layer()}>
        <T.Content
          side={side}
          sideOffset={6}
          collisionPadding={8}
          className="z-60 max-w-72 animate-appear rounded-md bg-ink px-2 py-1 text-xs text-canvas shadow-float"
        >
          {text}
        </T.Content>
      </T.Portal>
    </T.Root>
  );
}
