import type { LucideIcon } from 'lucide-react';
import { DropdownMenu as M } from 'radix-ui';
import type { ReactNode } from 'react';
import { cx } from './cx';
import { layer } from './dialogs/layer';

export function Menu({
  trigger,
  children,
  align = 'end',
}: {
  trigger: ReactNode;
  children: ReactNode;
  align?: 'start' | 'end';
}) {
  return (
    // Not modal: that would hide the page, with what has the focus in it, from assistive programs.
    <M.Root modal={false}>
      <M.Trigger asChild>{trigger}</M.Trigger>
      <M.Portal container={layer()}>
        <M.Content
          align={align}
          sideOffset={6}
          collisionPadding={8}
          className="z-50 max-h-(--radix-dropdown-menu-content-available-height) min-w-48 max-w-80 animate-appear overflow-y-auto rounded-lg bg-raised p-1 shadow-float"
        >
          {children}
        </M.Content>
      </M.Portal>
    </M.Root>
  );
}

/** An entry. With a `reason` it cannot be chosen and tells why below its label. */
export function MenuItem({
  icon: Icon,
  children,
  onSelect,
  danger = false,
  reason = null,
  checked,
}: {
  icon?: LucideIcon;
  children: ReactNode;
  onSelect: () => void;
  danger?: boolean;
  reason?: string | null;
  checked?: boolean;
}) {
  return (
    <M.Item
      disabled={reason !== null}
      onSelect={onSelect}
      {...(checked === undefined ? {} : { 'aria-current': checked })}
      className={cx(
        'flex items-start gap-2.5 rounded-md px-2 py-1.5 text-sm outline-none data-[highlighted]:bg-sunken',
        danger && reason === null && 'text-bad',
        reason !== null ? 'cursor-not-allowed text-dim' : 'cursor-pointer',
        checked === true && 'font-medium',
      )}
    >
      {Icon !== undefined && <Icon aria-hidden className="mt-0.5 size-4 shrink-0" />}
      <span className="min-w-0 flex-1">
        <span className="block truncate">{children}</span>
        {reason !== null && <span className="mt-0.5 block text-xs text-dim">{reason}</span>}
      </span>
    </M.Item>
  );
}

export const MenuLine = () => <M.Separator className="my-1 h-px bg-line" />;
export const MenuLabel = ({ children }: { children: ReactNode }) => (
  <M.Label className="truncate px-2 py-1.5 text-xs text-dim">{children}</M.Label>
);
