import { Search } from 'lucide-react';
import type { ReactNode } from 'react';
import { cx } from '../cx';
import { controlClass, inputClass } from '../forms/field';

/** The row above a list: a filter box that `/` focuses, and whatever narrows further. */
export function FilterBar({
  value,
  onChange,
  label,
  children,
}: {
  value: string;
  onChange: (value: string) => void;
  label: string;
  children?: ReactNode;
}) {
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-line p-2.5">
      <div className="relative min-w-0 flex-1 basis-full sm:max-w-72 sm:basis-44">
        <Search
          aria-hidden
          className="pointer-events-none absolute top-1/2 left-2.5 size-3.5 -translate-y-1/2 text-faint"
        />
        <input
          data-filter
          type="search"
          aria-label={label}
          placeholder={label}
          value={value}
          onChange={(event) => onChange(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return;
            if (value === '') event.currentTarget.blur();
            else onChange('');
            event.preventDefault();
          }}
          className={cx(inputClass, 'h-8 pl-8')}
        />
        {value === '' && (
          <kbd
            aria-hidden
            className="pointer-events-none absolute top-1/2 right-2 hidden -translate-y-1/2 rounded border border-line px-1 font-sans text-xs text-faint sm:block"
          >
            /
          </kbd>
        )}
      </div>
      {children}
    </div>
  );
}

export function FilterSelect({
  label,
  value,
  onChange,
  options,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  options: readonly (readonly [string, string])[];
}) {
  return (
    <select
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.target.value)}
      className={cx(controlClass, 'h-8 max-w-full pr-7 max-sm:basis-2/5 max-sm:grow sm:max-w-44')}
    >
      {options.map(([key, text]) => (
        <option key={key} value={key}>
          {text}
        </option>
      ))}
    </select>
  );
}
