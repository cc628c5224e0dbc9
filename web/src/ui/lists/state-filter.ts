import { useSearchParams } from 'react-router';

/** The words of a list's filter by state: the server's, and what people read. The first one is for any. */
export type StateWords = readonly (readonly [state: string, word: string])[];

/** A list's filter by state, kept in the page's address as `?state=`. What the list does not know counts as any. */
export const useStateFilter = <const T extends StateWords>(
  states: T,
): { state: T[number][0]; setState: (next: string) => void } => {
  const [params, setParams] = useSearchParams();
  const state = states.find(([known]) => known === params.get('state'))?.[0] ?? '';
  const setState = (next: string): void =>
    setParams(
      (old) => {
        const address = new URLSearchParams(old);
        if (next === '') address.delete('state');
        else address.set('state', next);
        return address;
      },
      { replace: true },
    );
  return { state, setState };
};
