import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useLayoutEffect, useRef, useState, type ReactNode } from 'react';

/** What a row needs so that its height and place are known. */
export interface RowPlace {
  ref: (row: HTMLTableRowElement | null) => void;
  'data-index': number;
  'aria-rowindex': number;
}

interface Props<T> {
  items: readonly T[];
  columns: number;
  busy: boolean;
  row: (item: T, place: Partial<RowPlace>) => ReactNode;
  /** Called when the last rows come into sight. */
  onEnd: () => void;
  /** Shown before the rows: the skeleton of what loads. */
  children?: ReactNode;
}

/** From so many rows on only those in sight are in the page. Fewer are all there, for the browser's own search. */
const manyRows = 100;
/** Rows that are kept beyond both edges of the window. */
const overscan = 12;
/** A row before it is measured. Pixels. */
const rowHeight = 45;
/** The end is near when fewer rows are left below the window. */
const nearEnd = 15;

/** The body of a table of any length. It scrolls with the page. */
export function VirtualRows<T extends { id: string }>({ items, columns, busy, row, onEnd, children }: Props<T>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [top, setTop] = useState(0);
  const virtual = items.length > manyRows;
  const virtualizer = useWindowVirtualizer({
    count: items.length,
    estimateSize: () => rowHeight,
    overscan,
    scrollMargin: top,
    getItemKey: (n) => items[n]?.id ?? n,
  });
  // What stands above the rows may grow or go at any render.
  useLayoutEffect(() => {
    const at = (body.current?.getBoundingClientRect().top ?? 0) + window.scrollY;
    if (Math.abs(at - top) > 1) setTop(at);
  });
  const rows = virtualizer.getVirtualItems();
  const first = rows[0];
  const last = rows.at(-1);
  const ending = last !== undefined && last.index >= items.length - nearEnd;
  useLayoutEffect(() => {
    if (ending) onEnd();
  }, [ending, items.length, onEnd]);

  return (
    <tbody ref={body} aria-busy={busy}>
      {children}
      {!virtual && items.map((item) => row(item, {}))}
      {virtual && first !== undefined && <Gap columns={columns} height={first.start - top} />}
      {virtual &&
        rows.map(({ index }) => {
          const item = items[index];
          return item === undefined
            ? null
            : row(item, { ref: virtualizer.measureElement, 'data-index': index, 'aria-rowindex': index + 2 });
        })}
      {virtual && last !== undefined && <Gap columns={columns} height={virtualizer.getTotalSize() + top - last.end} />}
    </tbody>
  );
}

/** The room of rows that are not in sight. */
function Gap({ columns, height }: { columns: number; height: number }) {
  if (height <= 0) return null;
  return (
    <tr aria-hidden>
      <td colSpan={columns} style={{ height, padding: 0 }} />
    </tr>
  );
}
