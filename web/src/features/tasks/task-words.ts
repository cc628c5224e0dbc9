import { words } from '../../lib/format';
import type { Task, TaskState } from '../../lib/types';

/** `instance.create` → `Create instance`; `instance.create-batch` → `Create instance batch`. */
export const taskVerb = (task: Pick<Task, 'type' | 'subject'>): string => {
  const [verb = task.type, ...rest] = (task.type.split('.').at(-1) ?? task.type).split('-');
  return words([verb, task.subject.kind, ...rest].join(' '));
};

export const taskTitle = (task: Pick<Task, 'type' | 'subject'>): string => `${taskVerb(task)} ${task.subject.name}`;

export const isLive = (state: TaskState): boolean =>
  state === 'queued' || state === 'running' || state === 'compensating' || state === 'stuck';

const pages: Record<string, string> = { instance: '/instances', host: '/hosts' };

/** The page of the object that a task works on, where there is one. */
export const subjectPath = (task: Pick<Task, 'subject'>): string | null => {
  const base = pages[task.subject.kind];
  return base === undefined ? null : `${base}/${task.subject.id}`;
};
