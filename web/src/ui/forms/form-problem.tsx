import { useEffect, useRef } from 'react';
import type { ApiError } from '../../lib/problem';
import type { FieldError } from '../../lib/types';
import { ProblemNote } from '../feedback/problem-note';

const invalid = '[aria-invalid=true], [data-invalid]';

/**
 * Brings the first field of a form that is not accepted into sight, and the cursor into it. False when there is none.
 */
const showInvalid = (form: Element | null): boolean => {
  const field = form?.querySelector<HTMLElement>(invalid) ?? null;
  field?.focus({ preventScroll: true });
  field?.scrollIntoView({ block: 'center' });
  return field !== null;
};

/** Makes every form show its first field that is not accepted when it is sent. Once for the whole console. */
export const useInvalidShown = (): void => {
  useEffect(() => {
    const onSubmit = (event: SubmitEvent): void => {
      const form = event.target;
      if (form instanceof HTMLFormElement) requestAnimationFrame(() => showInvalid(form));
    };
    window.addEventListener('submit', onSubmit);
    return () => window.removeEventListener('submit', onSubmit);
  }, []);
};

/** What of an error none of the form's fields shows; null when the fields show all of it. */
export const elsewhere = (error: ApiError, fields: readonly string[]): FieldError[] | null => {
  const others = error.errors.filter((e) => !fields.includes(e.path.replace(/^body\.?/, '').split('.')[0] ?? ''));
  return error.errors.length > 0 && others.length === 0 && error.hosts.length === 0 ? null : others;
};

/**
 * Why a form was refused. What is said at a field that the form has is said there, once, and scrolled to; everything
 * else is said here.
 * @param fields names of fields, as the API has them below `body`, that show their own error
 */
export function FormProblem({
  error,
  fields,
  className,
}: {
  error: ApiError | null;
  fields: readonly string[];
  className?: string;
}) {
  const own = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (error === null) return;
    const frame = requestAnimationFrame(() => {
      if (!showInvalid(own.current?.closest('form') ?? null)) own.current?.scrollIntoView({ block: 'nearest' });
    });
    return () => cancelAnimationFrame(frame);
  }, [error]);
  if (error === null) return null;
  const others = elsewhere(error, fields);
  return (
    <div ref={own} className={className}>
      {others !== null && <ProblemNote error={error} fields={others} />}
    </div>
  );
}
