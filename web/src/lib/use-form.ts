import { useState, type ChangeEvent, type FormEvent } from 'react';
import { fieldErrors, type ApiError } from './problem';

/** The write that a form ends in, as far as it is looked at here. */
interface Write<B> {
  error: ApiError | null;
  isPending: boolean;
  mutate: (body: B) => void;
}

/** What a field is given of its form. */
export interface FieldProps {
  value: string;
  error: string | null;
  onChange: (event: ChangeEvent<HTMLInputElement>) => void;
}

type Texts<D> = { [K in keyof D]: D[K] extends string ? K : never }[keyof D] & string;

/**
 * A form that is checked before it is sent: what is filled in, and what is wrong with it, said by the form itself once
 * it was tried, or by the server.
 * @param problemsOf what is wrong, by member of the request
 * @param bodyOf the request; null while something is wrong
 */
export const useForm = <D extends object, B>(
  empty: D,
  write: Write<B>,
  problemsOf: (draft: D) => Record<string, string | null>,
  bodyOf: (draft: D) => B | null,
) => {
  const [draft, setDraft] = useState(empty);
  const [tried, setTried] = useState(false);
  const problems = problemsOf(draft);
  const refused = fieldErrors(write.error);
  const show = (member: string): string | null => (tried ? problems[member] : null) ?? refused[member] ?? null;
  const change = (part: Partial<D>): void => setDraft((old) => ({ ...old, ...part }));
  return {
    draft,
    change,
    /** A text of the draft; `member` is what the request calls it, where that differs. */
    field: <K extends Texts<D>>(key: K, member: string = key): FieldProps => ({
      value: draft[key] as string,
      error: show(member),
      onChange: (event) => change({ [key]: event.target.value } as unknown as Partial<D>),
    }),
    submit: (event: FormEvent): void => {
      event.preventDefault();
      setTried(true);
      const body = bodyOf(draft);
      if (!write.isPending && body !== null) write.mutate(body);
    },
  };
};
