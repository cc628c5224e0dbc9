import type { Refusal } from './instance-states';

/** What users put before an instance, so that nothing happens to it by mistake. */
interface Guarded {
  protected: boolean;
  lock: { reason: string } | null;
}

/**
 * Why an instance's guards refuse something, whatever its state; undefined when they do not. A lock refuses all but
 * reads, the console and unlocking; the protection refuses deleting. Both hold for everyone: they keep from mistakes,
 * and who may lock may unlock.
 */
export const guardRefusal = (instance: Guarded, deleting: boolean): Refusal | undefined => {
  if (instance.lock !== null) {
    const { reason } = instance.lock;
    return { code: 'instance_locked', detail: `It is locked${reason === '' ? '' : ` (${reason})`}: unlock it first.` };
  }
  return deleting && instance.protected
    ? { code: 'instance_protected', detail: 'It is protected from deletion: take the protection away first.' }
    : undefined;
};
