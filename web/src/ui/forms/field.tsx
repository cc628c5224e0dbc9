import {
  useId,
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
} from 'react';
import { cx } from '../cx';

/** A control without its width. */
export const controlClass =
  'h-8.5 min-w-0 rounded-md border border-line-strong bg-raised px-2.5 text-base text-ink outline-none sm:text-sm focus-visible:border-accent-text focus-visible:ring-3 focus-visible:ring-accent/20 aria-invalid:border-bad';
export const inputClass = `${controlClass} w-full`;

interface Shape {
  label: string;
  hint?: ReactNode;
  error?: string | null | undefined;
  optional?: boolean;
  className?: string;
}

interface Wiring {
  id: string;
  'aria-invalid'?: true;
  'aria-describedby'?: string;
}

/** Label, control, hint and error, tied together for screen readers. */
function Field({
  label,
  hint,
  error,
  optional = false,
  className,
  children,
}: Shape & { children: (wiring: Wiring) => ReactNode }) {
  const id = useId();
  const bad = error !== undefined && error !== null && error !== '';
  const described = [bad ? `${id}-error` : null, hint === undefined ? null : `${id}-hint`].filter(Boolean).join(' ');
  return (
    <div className={className}>
      <label htmlFor={id} className="mb-1.5 flex items-baseline gap-2 text-sm font-medium">
        {label}
        {optional && <span className="text-xs font-normal text-dim">optional</span>}
      </label>
      {children({
        id,
        ...(bad ? { 'aria-invalid': true as const } : {}),
        ...(described === '' ? {} : { 'aria-describedby': described }),
      })}
      {bad && (
        <p id={`${id}-error`} className="mt-1.5 text-xs text-bad">
          {error}
        </p>
      )}
      {hint !== undefined && (
        <p id={`${id}-hint`} className="mt-1.5 text-xs text-dim">
          {hint}
        </p>
      )}
    </div>
  );
}

export function TextField({
  label,
  hint,
  error,
  optional,
  className,
  ...input
}: Shape & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <Field
      label={label}
      hint={hint}
      error={error}
      {...(optional === undefined ? {} : { optional })}
      {...(className === undefined ? {} : { className })}
    >
      {(wiring) => <input {...wiring} autoComplete="off" {...input} className={inputClass} />}
    </Field>
  );
}

export function TextArea({
  label,
  hint,
  error,
  optional,
  className,
  mono = false,
  ...input
}: Shape & { mono?: boolean } & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return (
    <Field
      label={label}
      hint={hint}
      error={error}
      {...(optional === undefined ? {} : { optional })}
      {...(className === undefined ? {} : { className })}
    >
      {(wiring) => (
        <textarea
          rows={4}
          spellCheck={false}
          {...wiring}
          {...input}
          className={cx(inputClass, 'h-auto py-2', mono && 'font-mono text-xs')}
        />
      )}
    </Field>
  );
}

export function SelectField({
  label,
  hint,
  error,
  optional,
  className,
  children,
  ...input
}: Shape & SelectHTMLAttributes<HTMLSelectElement>) {
  return (
    <Field
      label={label}
      hint={hint}
      error={error}
      {...(optional === undefined ? {} : { optional })}
      {...(className === undefined ? {} : { className })}
    >
      {(wiring) => (
        <select {...wiring} {...input} className={cx(inputClass, 'pr-7')}>
          {children}
        </select>
      )}
    </Field>
  );
}

export function Checkbox({
  label,
  hint,
  ...input
}: { label: ReactNode; hint?: ReactNode } & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <label className="flex items-start gap-2.5 text-sm">
      <input type="checkbox" {...input} className="mt-0.5 size-4 shrink-0 accent-accent" />
      <span className="min-w-0">
        {label}
        {hint !== undefined && <span className="mt-0.5 block text-xs text-dim">{hint}</span>}
      </span>
    </label>
  );
}
