import { useList } from '../../lib/queries';

/**
 * Names of the instances of a project by id, for lists that know only ids; an unknown one is shown by the start of its
 * id.
 */
export const useInstanceNames = (query: { project?: string }): ((id: string) => string) => {
  const { items } = useList('/instances', { query: { ...query, limit: 500 } });
  const names = new Map(items.map((i) => [i.id, i.name]));
  return (id) => names.get(id) ?? id.slice(0, 8);
};
