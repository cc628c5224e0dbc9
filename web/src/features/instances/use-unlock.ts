import { api } from '../../lib/api';
import { useWrite } from '../../lib/queries';
import type { Instance } from '../../lib/types';
import { toast } from '../../ui/feedback/toast';

/** Takes the lock from an instance. */
export const useUnlock = (): ((instance: Instance) => void) => {
  const write = useWrite(
    (instance: Instance) => api.post('/instances/{ref}/actions/unlock', { path: { ref: instance.id } }),
    {
      touches: ['instances'],
      onDone: (_answer, instance) => toast.ok(`Instance ${instance.name} unlocked`),
      onError: (error, instance) => toast.bad(`Could not unlock ${instance.name}`, error),
    },
  );
  return (instance) => write.mutate(instance);
};
