import { ArrowDown, ArrowUp } from 'lucide-react';
import { useEffect, useRef, type ReactNode, type ThHTMLAttributes, type TdHTMLAttributes } from 'react';
import { cx } from '../cx';
import type { RowPlace } from './virtual-rows';

/** From which width of the table's own surface a column shows. */
export type From = 'sm' | 'md' | 'lg' | 'xl';
const shown: Record<From, string> = {
  sm: 'hidden @md:table-cell',
  md: 'hidden @2xl:table-cell',
  lg: 'hidden @4xl:table-cell',
  xl: 'hidden @6xl:table-cell',
};

/**
 * `sticky`: its heading stays in sight as the page scrolls, so nothing of it can scroll by itself. `rows`: how many
 * there are, of which some may not be in the page.
 */
export function Table({
  label,
  sticky = false,
  rows,
  className,
  children,
}: {
  label: string;
  sticky?: boolean;
  rows?: number;
  className?: string;
  children: ReactNode;
}) {
  const box = useRef<HTMLDivElement>(null);
  // What scrolls sideways must be reached without a mouse.
  useEffect(() => {
    const element = box.current;
    if (element === null || sticky) return;
    const observer = new ResizeObserver(() => {
      if (element.scrollWidth > element.clientWidth) element.tabIndex = 0;
      else element.removeAttribute('tabindex');
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [sticky]);
  return (
    <div ref={box} className={cx('@container', sticky ? 'overflow-x-clip' : 'overflow-x-auto', className)}>
      <table aria-label={label} aria-rowcount={rows} className="w-full border-collapse text-left text-sm">
        {children}
      </table>
    </div>
  );
}

export function Head({ sticky = false, children }: { sticky?: boolean; children: ReactNode }) {
  return (
    <thead className={cx(sticky && 'sticky top-(--stick) z-10 bg-raised shadow-[inset_0_-1px_0_var(--line)]')}>
      <tr className="border-b border-line text-xs text-dim">{children}</tr>
    </thead>
  );
}

export function Th({ from, className, children, ...rest }: ThHTMLAttributes<HTMLTableCellElement> & { from?: From }) {
  return (
    <th
      scope="col"
      className={cx(
        'h-9 px-2.5 font-medium whitespace-nowrap first:pl-4 last:pr-4',
        from !== undefined && shown[from],
        className,
      )}
      {...rest}
    >
      {children}
    </th>
  );
}

/** A heading that sorts. `sort` is the server's word: `name`, or `-name` for descending. */
export function SortTh({
  by,
  sort,
  onSort,
  from,
  children,
}: {
  by: string;
  sort: string;
  onSort: (sort: string) => void;
  from?: From;
  children: ReactNode;
}) {
  const active = sort === by || sort === `-${by}`;
  const down = sort === `-${by}`;
  const Icon = down ? ArrowDown : ArrowUp;
  return (
    <Th {...(from === undefined ? {} : { from })} aria-sort={active ? (down ? 'descending' : 'ascending') : 'none'}>
      <button
        type="button"
        onClick={() => onSort(active && !down ? `-${by}` : by)}
        className={cx(
          '-mx-1.5 inline-flex items-center gap-1 rounded px-1.5 py-0.5 hover:bg-sunken hover:text-ink',
          active && 'text-ink',
        )}
      >
        {children}
        <Icon aria-hidden className={cx('size-3', !active && 'opacity-0')} />
      </button>
    </Th>
  );
}

export function Row({
  selected = false,
  place,
  children,
  onClick,
}: {
  selected?: boolean;
  place?: Partial<RowPlace>;
  children: ReactNode;
  onClick?: () => void;
}) {
  return (
    <tr
      {...place}
      onClick={onClick}
      className={cx(
        'group border-b border-line last:border-0',
        selected ? 'bg-accent-soft' : 'hover:bg-sunken/60',
        onClick !== undefined && 'cursor-pointer',
      )}
    >
      {children}
    </tr>
  );
}

export function Td({ from, className, children, ...rest }: TdHTMLAttributes<HTMLTableCellElement> & { from?: From }) {
  return (
    <td
      className={cx(
        'h-11 px-2.5 py-1.5 whitespace-nowrap first:pl-4 last:pr-4',
        from !== undefined && shown[from],
        className,
      )}
      {...rest}
    >
      {children}
    </td>
  );
}

/** The column that takes what width the others leave; its content is cut, not the table widened. */
export function NameTd({ children }: { children: ReactNode }) {
  return <td className="h-11 w-full max-w-0 min-w-26 px-2.5 py-1.5 first:pl-4 last:pr-4 @md:min-w-48">{children}</td>;
}

/** Long names keep the table's shape: cut with an ellipsis, whole as a title. */
export function Cut({ text, className }: { text: string; className?: string }) {
  return (
    <span title={text} className={cx('block truncate', className)}>
      {text}
    </span>
  );
}

export function SkeletonRows({ columns, rows = 5 }: { columns: number; rows?: number }) {
  return (
    <>
      {Array.from({ length: rows }, (_, row) => (
        <tr key={row} aria-hidden className="border-b border-line last:border-0">
          <td colSpan={columns} className="h-11 px-4">
            <div className="flex items-center gap-6">
              <Skeleton className="h-3.5 w-1/4" />
              <Skeleton className="h-3.5 w-1/6" />
              <Skeleton className="hidden h-3.5 w-1/5 sm:block" />
              <Skeleton className="ml-auto h-3.5 w-12" />
            </div>
          </td>
        </tr>
      ))}
    </>
  );
}

export function Skeleton({ className }: { className?: string }) {
  return <div aria-hidden className={cx('animate-pulse rounded bg-idle-soft', className)} />;
}
