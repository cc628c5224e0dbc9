import { useSearchParams } from 'react-router';

/** The tag that the list is narrowed to, kept in the page's address as `?tag=`; empty for none. */
export const useTagFilter = (): { tag: string; clearTag: () => void } => {
  const [params, setParams] = useSearchParams();
  const clearTag = (): void =>
    setParams(
      (old) => {
        const address = new URLSearchParams(old);
        address.delete('tag');
        return address;
      },
      { replace: true },
    );
  return { tag: params.get('tag') ?? '', clearTag };
};
