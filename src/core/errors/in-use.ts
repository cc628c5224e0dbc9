import { Problem } from './problem';

/** Something that still needs what is to be deleted. */
export interface InUseBy {
  /** Noun in the singular, as in REST paths. */
  kind: string;
  id: string;
  name: string;
  /** The task that is at work on it, if any. */
  taskId?: string | null;
}

/** How many users a refusal names. */
export const namedUsers = 10;

const listed = (users: readonly InUseBy[], count: number): string => {
  const shown = users.map(({ kind, name }) => `${kind} "${name}"`);
  if (shown.length === 0) return `${count} ${count === 1 ? 'object' : 'objects'} of other projects`;
  return count > shown.length ? `${shown.join(', ')} and ${count - shown.length} more` : shown.join(', ');
};

/**
 * 409: it cannot be deleted while others need it. `users` names the first ten with their paths, `count` says how many
 * there are, and `task` is one that is at work on one of them.
 * @param what e.g. `The network "web"`
 * @param users of those that the caller sees, at most ten; `count` includes the others
 */
export const inUse = (code: string, what: string, users: readonly InUseBy[], count: number): Problem => {
  const shown = users.slice(0, namedUsers);
  const task = shown.find((user) => user.taskId)?.taskId;
  return new Problem({
    status: 409,
    code,
    detail: `${what} is used by ${listed(shown, count)}. Delete ${count === 1 ? 'that' : 'these'} first${task ? `; the task ${task} is at work there` : ''}.`,
    extra: {
      users: shown.map(({ kind, id, name, taskId }) => ({
        kind,
        id,
        name,
        href: `/api/v1/${kind}s/${id}`,
        ...(taskId && { taskId }),
      })),
      count,
      ...(task && { task }),
    },
  });
};
