/** Locks that a task may need at most. */
const mostLocks = 16;

/** In the order in which every task takes them, each once; null without any. */
export const lockKeysOf = (wanted: string | readonly string[] | undefined): string[] | null => {
  const keys = [...new Set(typeof wanted === 'string' ? [wanted] : wanted)].sort();
  if (keys.length > mostLocks) throw new Error(`a task may need ${mostLocks} locks at most, not ${keys.length}`);
  return keys.length === 0 ? null : keys;
};

/** What a lock is of, for people: keys are `noun/id`, and mostly of the task's own subject. */
export const lockWords = (key: string, subject: { kind: string; id: string }): string => {
  const [, noun, id] = /^([a-z][a-z-]*)\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(key) ?? [];
  return id === undefined || id === subject.id ? `this ${subject.kind}` : `${noun} ${id}`;
};
