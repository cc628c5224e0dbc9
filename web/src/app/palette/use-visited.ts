import { useEffect } from 'react';
import { visited } from '../../lib/recent';

/** Remembers what a page shows among the recent things, once its name is known. */
export const useVisited = (kind: string, to: string, name: string | undefined): void => {
  useEffect(() => {
    if (name !== undefined) visited({ kind, to, name });
  }, [kind, to, name]);
};
