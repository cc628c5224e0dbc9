import { useScope } from '../../app/scope';
import { useList } from '../../lib/queries';
import type { User } from '../../lib/types';

/** Who asked for a task, by name where the viewer may know it: oneself, and for administrators everybody. */
export const useActorName = (): ((id: string) => string) => {
  const { me, admin } = useScope();
  const { items } = useList<User>('users', { limit: 500 }, admin);
  const names = new Map(items.map((u) => [u.id, u.name]));
  return (id) => (id === me.user.id ? me.user.name : (names.get(id) ?? (/^[0-9a-f-]{36}$/.test(id) ? `user ${id.slice(0, 8)}` : id)));
};
