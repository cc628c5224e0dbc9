import { useEffect, useState } from 'react';
import { useNavigationType, useSearchParams } from 'react-router';
import { useDebounced } from '../../lib/queries';

/** The filter box of a list: what is typed, and what the server is asked for. */
export interface SearchFilter {
  text: string;
  setText: (text: string) => void;
  /** Settled; empty for all. */
  q: string;
}

/** A list's filter box, kept in the page's address as `?q=`, so that a link shows the same. */
export const useSearchFilter = (): SearchFilter => {
  const [params, setParams] = useSearchParams();
  const addressed = params.get('q') ?? '';
  const [text, setText] = useState(addressed);
  const q = useDebounced(text.trim());
  // An address that changes by itself (back, a link) changes the box too. The box's own changes replace the address,
  // and may be overtaken by what is typed.
  const how = useNavigationType();
  useEffect(() => {
    if (how !== 'REPLACE') setText((old) => (old.trim() === addressed ? old : addressed));
  }, [addressed, how]);
  useEffect(() => {
    setParams(
      (old) => {
        if ((old.get('q') ?? '') === q) return old;
        const next = new URLSearchParams(old);
        if (q === '') next.delete('q');
        else next.set('q', q);
        return next;
      },
      { replace: true },
    );
    // Only what was typed changes the address.
  }, [q]);
  return { text, setText, q };
};
