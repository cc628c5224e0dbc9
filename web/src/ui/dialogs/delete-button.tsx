import { Trash2 } from 'lucide-react';
import { Button } from '../button';

/** The quiet delete of a row. */
export function DeleteButton({ name, reason, onClick }: { name: string; reason: string | null; onClick: () => void }) {
  return (
    <Button
      look="ghost"
      size="icon-sm"
      icon={Trash2}
      aria-label={`Delete ${name}`}
      reason={reason}
      hint="Delete…"
      onClick={onClick}
    />
  );
}
