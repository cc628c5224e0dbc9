import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';

/** What a page shows instead of nothing: what belongs here, and the next step. */
export function Empty({
  icon: Icon,
  title,
  children,
  action,
}: {
  icon: LucideIcon;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className="flex flex-col items-center px-6 py-14 text-center">
      <span className="mb-4 grid size-11 place-items-center rounded-xl border border-line bg-sunken">
        <Icon aria-hidden className="size-5 text-dim" />
      </span>
      <h2 className="text-base font-semibold">{title}</h2>
      {children !== undefined && <div className="mt-1 max-w-md text-sm text-balance text-dim">{children}</div>}
      {action !== undefined && <div className="mt-5 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  );
}
