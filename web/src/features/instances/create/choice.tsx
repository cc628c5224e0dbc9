import { useId, type ReactNode } from 'react';
import { cx } from '../../../ui/cx';

/** One card of a group: a radio button or checkbox whose whole surface can be pressed. */
export function Choice({
  type,
  name,
  checked,
  onChange,
  disabled = false,
  children,
  className,
}: {
  type: 'radio' | 'checkbox';
  name: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean;
  children: ReactNode;
  className?: string;
}) {
  return (
    <label
      className={cx(
        'flex items-start gap-3 rounded-lg border px-3 py-2.5 text-sm transition-colors has-focus-visible:outline-2 has-focus-visible:outline-offset-1 has-focus-visible:outline-accent-text',
        checked ? 'border-accent bg-accent-soft/50' : 'border-line hover:border-line-strong',
        disabled ? 'cursor-not-allowed opacity-75' : 'cursor-pointer',
        className,
      )}
    >
      <input
        type={type}
        name={name}
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChange(event.target.checked)}
        className="mt-0.5 size-4 shrink-0 accent-accent outline-none"
      />
      <span className="min-w-0 flex-1">{children}</span>
    </label>
  );
}

/** A numbered part of a long form. */
export function FormSection({
  title,
  hint,
  error,
  children,
}: {
  title: string;
  hint?: ReactNode;
  error?: string | null | undefined;
  children: ReactNode;
}) {
  const id = useId();
  const bad = error !== null && error !== undefined && error !== '';
  return (
    <fieldset
      {...(bad ? { 'data-invalid': true, tabIndex: -1, 'aria-describedby': id } : {})}
      className="min-w-0 outline-none border-t border-line pt-5 first:border-0 first:pt-0"
    >
      <legend className="float-left mb-3 w-full text-sm font-semibold">
        {title}
        {hint !== undefined && <span className="mt-0.5 block font-normal text-dim">{hint}</span>}
      </legend>
      <div className="clear-both">{children}</div>
      {bad && (
        <p id={id} className="mt-2 text-xs text-bad">
          {error}
        </p>
      )}
    </fieldset>
  );
}
