import { Store } from '../../lib/store';

/** The task whose drawer is open. `auto`: it was opened by an action, and closes itself when all went well. */
export const openedTask = new Store<{ id: string; auto: boolean } | null>(null);

export const openTask = (id: string, { auto = false }: { auto?: boolean } = {}): void => openedTask.set({ id, auto });
export const closeTask = (): void => openedTask.set(null);

/** Follows the task of an answer of 202, if there is one. */
export const followTask = (id: string | null): void => {
  if (id !== null) openTask(id, { auto: true });
};
