import { ChevronRight } from 'lucide-react';
import { useEffect, type ReactNode } from 'react';
import { Link } from 'react-router';
import { cx } from './cx';

interface Props {
  title: string;
  /** Shown above the title as the way back. */
  parent?: { to: string; label: string };
  /** Beside the title: a state, say. */
  aside?: ReactNode;
  description?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

/** A page: heading, actions, content; it also names the browser tab. */
export function Page({ title, parent, aside, description, actions, children }: Props) {
  useEffect(() => {
    document.title = `${title} · VC Stack`;
  }, [title]);
  return (
    <div className="w-full max-w-[120rem] px-4 py-5 sm:px-7 sm:py-7">
      {parent !== undefined && (
        <nav aria-label="Breadcrumb" className="mb-1.5 flex items-center gap-1 text-xs text-dim">
          <Link to={parent.to} className="rounded hover:text-ink hover:underline">
            {parent.label}
          </Link>
          <ChevronRight aria-hidden className="size-3" />
        </nav>
      )}
      <header className="mb-5 flex flex-wrap items-start gap-x-4 gap-y-3">
        <div className="min-w-0 flex-1 basis-60">
          <div className="flex min-w-0 items-center gap-3">
            <h1 title={title} className="truncate text-xl font-semibold tracking-tight">
              {title}
            </h1>
            {aside}
          </div>
          {description !== undefined && <p className="mt-1 text-sm text-dim">{description}</p>}
        </div>
        {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** A bordered surface that holds a table or facts. */
export function Card({
  title,
  action,
  children,
  className,
  id,
}: {
  title?: string;
  action?: ReactNode;
  children: ReactNode;
  className?: string;
  id?: string;
}) {
  return (
    <section id={id} aria-label={title} className={cx('rounded-xl border border-line bg-raised', className)}>
      {title !== undefined && (
        <div className="flex h-11 items-center justify-between gap-3 border-b border-line px-4">
          <h2 className="text-sm font-semibold">{title}</h2>
          {action}
        </div>
      )}
      {children}
    </section>
  );
}

/** Label and value pairs. */
export function Facts({ items }: { items: (readonly [string, ReactNode] | null)[] }) {
  return (
    <dl className="@container divide-y divide-line px-4 text-sm">
      {items.map(
        (item) =>
          item !== null && (
            <div
              key={item[0]}
              className="grid grid-cols-[6.5rem_minmax(0,1fr)] gap-3 py-2 @sm:grid-cols-[7.5rem_minmax(0,1fr)]"
            >
              <dt className="text-dim">{item[0]}</dt>
              <dd className="min-w-0 break-words">{item[1]}</dd>
            </div>
          ),
      )}
    </dl>
  );
}
