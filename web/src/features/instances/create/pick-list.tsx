import { useState, type ReactNode } from 'react';
import { inputClass } from '../../../ui/forms/field';

/** From so many on one looks for a name rather than at all of them. */
const many = 6;

interface Props<T> {
  /** Plural, for the filter box. */
  label: string;
  items: readonly T[];
  textOf: (item: T) => string;
  /** Shown whatever the filter says. */
  chosen: (item: T) => boolean;
  columns?: string;
  children: (item: T) => ReactNode;
}

/**
 * Choices of which there may be hundreds: a filter above them, and a height that leaves the rest of the form in sight.
 */
export function PickList<T>({ label, items, textOf, chosen, columns = 'sm:grid-cols-2', children }: Props<T>) {
  const [text, setText] = useState('');
  const wanted = text.trim().toLowerCase();
  const shown = items.filter((item) => chosen(item) || textOf(item).toLowerCase().includes(wanted));
  const others = shown.filter((item) => !chosen(item)).length;
  return (
    <>
      {items.length > many && (
        <input
          type="search"
          aria-label={`Filter ${label}`}
          placeholder={`Filter ${items.length} ${label}`}
          value={text}
          onChange={(event) => setText(event.target.value)}
          className={`${inputClass} mb-2 max-w-sm`}
        />
      )}
      <div className={`-m-1 grid max-h-72 grid-cols-1 gap-2 overflow-y-auto p-1 ${columns}`}>{shown.map(children)}</div>
      {wanted !== '' && others === 0 && (
        <p className="mt-2 text-xs text-dim">No other name has “{text.trim()}” in it.</p>
      )}
    </>
  );
}
