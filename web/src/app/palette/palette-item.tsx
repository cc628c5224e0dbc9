import { Command } from 'cmdk';
import type { ReactNode } from 'react';
import type { PaletteItemProps } from '../feature';

const itemClass =
  'flex min-h-9 cursor-pointer items-center gap-2.5 rounded-md px-2.5 py-1.5 text-sm data-[disabled=true]:cursor-not-allowed data-[disabled=true]:text-dim data-[selected=true]:bg-sunken';
const groupClass =
  '[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-2.5 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-dim';

export function PaletteGroup({ heading, children }: { heading: string; children: ReactNode }) {
  return (
    <Command.Group heading={heading} className={groupClass}>
      {children}
    </Command.Group>
  );
}

export function PaletteItem({ icon: Icon, value, onSelect, children, aside, reason = null }: PaletteItemProps) {
  return (
    <Command.Item value={value} onSelect={onSelect} disabled={reason !== null} className={itemClass}>
      <Icon aria-hidden className="size-4 shrink-0 text-dim" />
      <span className="min-w-0 flex-1">
        <span className="block truncate">{children}</span>
        {reason !== null && <span className="block truncate text-xs">{reason}</span>}
      </span>
      {aside}
    </Command.Item>
  );
}
