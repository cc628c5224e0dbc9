import { Ban, Check, ShieldCheck } from 'lucide-react';
import type { User } from '../../lib/types';
import { Badge } from '../../ui/feedback/badge';

/** Whether a user may sign in, and with all rights. */
export function UserStatus({ user }: { user: User }) {
  return (
    <span className="flex flex-wrap gap-1.5 sm:flex-nowrap">
      <Badge tone={user.enabled ? 'ok' : 'idle'} icon={user.enabled ? Check : Ban}>
        {user.enabled ? 'Enabled' : 'Disabled'}
      </Badge>
      {user.admin && (
        <Badge tone="busy" icon={ShieldCheck}>
          Administrator
        </Badge>
      )}
    </span>
  );
}
