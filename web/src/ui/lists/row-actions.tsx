import type { ReactNode } from 'react';

/** Several quiet buttons at the end of a row. */
export function RowActions({ children }: { children: ReactNode }) {
  return <span className="inline-flex items-center">{children}</span>;
}
