import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { ApiError } from '../lib/problem';
import { ButtonLink } from '../ui/button';
import { Empty } from '../ui/feedback/empty';
import { LoadError } from '../ui/lists/list-states';
import { Skeleton } from '../ui/lists/table';
import { Card, Page } from '../ui/page';

interface Props<T> {
  /** What it is, as in sentences: `security group`. */
  noun: string;
  icon: LucideIcon;
  /** Its list. */
  parent: { to: string; label: string };
  result: { data: T | undefined; error: Error | null; refetch: () => Promise<unknown> };
  children: (found: T) => ReactNode;
}

/** The page of one object: what shows while it comes, when it does not, and when it is gone. */
export function OnePage<T>({ noun, icon, parent, result, children }: Props<T>) {
  const gone = result.error instanceof ApiError && result.error.status === 404;
  if (!gone && result.data !== undefined) return children(result.data);
  return (
    <Page title={noun.charAt(0).toUpperCase() + noun.slice(1)} parent={parent}>
      {gone ? (
        <Card>
          <Empty
            icon={icon}
            title={`This ${noun} does not exist any more`}
            action={
              <ButtonLink
                to={parent.to}
              >{`All ${parent.label.charAt(0).toLowerCase()}${parent.label.slice(1)}`}</ButtonLink>
            }
          >
            It was deleted, or its address is mistyped.
          </Empty>
        </Card>
      ) : (
        <Card className="p-5">
          {result.error === null ? (
            <Skeleton className="h-40" />
          ) : (
            <LoadError error={result.error} onRetry={() => void result.refetch()} />
          )}
        </Card>
      )}
    </Page>
  );
}
