export const taskStates = ['queued', 'running', 'compensating', 'succeeded', 'failed', 'cancelled', 'stuck'] as const;
export type TaskState = (typeof taskStates)[number];
export const finalStates: readonly TaskState[] = ['succeeded', 'failed', 'cancelled'];
