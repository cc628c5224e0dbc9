import { api } from '../../lib/api';
import { useWrite } from '../../lib/queries';
import type { User } from '../../lib/types';
import { toast } from '../../ui/feedback/toast';

/** Lets a user sign in, or no more: that ends the sessions and refuses the API tokens. */
export const useUserSwitch = (): ((user: User) => void) => {
  const update = useWrite(
    (user: User) => api.patch('/users/{ref}', { path: { ref: user.id }, body: { enabled: !user.enabled } }),
    {
      touches: ['users'],
      onDone: (user) => toast.ok(`${user.name} is ${user.enabled ? 'enabled' : 'disabled'}`),
      onError: (error) => toast.bad('Not changed', error),
    },
  );
  return (user) => {
    if (!update.isPending) update.mutate(user);
  };
};
