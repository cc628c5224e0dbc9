import type { ReactNode } from 'react';
import type { List } from '../../lib/queries';
import { More } from './list-faces';
import { LoadError } from './list-states';

interface Props<T> {
  list: List<T>;
  /** Said when there is nothing. */
  empty: ReactNode;
  /** The rows; they show their own loading. */
  children: ReactNode;
}

/** A list within a page: its rows, or that it is empty, or why it could not be loaded. */
export function PlainList<T>({ list, empty, children }: Props<T>) {
  if (list.error !== null && list.items.length === 0)
    return <LoadError error={list.error} onRetry={() => void list.refetch()} />;
  if (list.isSuccess && list.items.length === 0) return <p className="px-4 py-5 text-sm text-dim">{empty}</p>;
  return (
    <>
      {children}
      <More list={list} />
    </>
  );
}
