import { RotateCw } from 'lucide-react';
import { asApiError } from '../../lib/problem';
import { Button } from '../button';
import { ProblemNote } from '../feedback/problem-note';

/** A list that could not be loaded: the reason, and a way to try again. */
export function LoadError({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  return (
    <div className="p-4">
      <ProblemNote error={asApiError(error)} />
      <Button icon={RotateCw} className="mt-3" onClick={onRetry}>
        Try again
      </Button>
    </div>
  );
}
