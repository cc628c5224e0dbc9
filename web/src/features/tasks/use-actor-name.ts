import { useScope } from '../../app/scope';
import { useList } from '../../lib/queries';

const isId = /^[0-9a-f-]{36}$/;

/**
 * Who asked for a task, by name where the viewer may know it: oneself, and for administrators everybody. `ids` are all
 * that will be asked for.
 */
export const useActorName = (ids: readonly string[]): ((id: string) => string) => {
  const { me, admin } = useScope();
  const others = ids.some((id) => isId.test(id) && id !== me.user.id);
  const { items } = useList('/users', { query: { limit: 500 }, enabled: admin && others });
  const names = new Map(items.map((u) => [u.id, u.name]));
  return (id) =>
    id === me.user.id ? me.user.name : (names.get(id) ?? (isId.test(id) ? `user ${id.slice(0, 8)}` : id));
};
