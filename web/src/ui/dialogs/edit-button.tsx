import { Pencil } from 'lucide-react';
import { Button } from '../button';

/** The quiet edit of a row. */
export function EditButton({ name, reason, onClick }: { name: string; reason: string | null; onClick: () => void }) {
  return (
    <Button
      look="ghost"
      size="icon-sm"
      icon={Pencil}
      aria-label={`Edit ${name}`}
      reason={reason}
      hint="Edit…"
      onClick={onClick}
    />
  );
}
