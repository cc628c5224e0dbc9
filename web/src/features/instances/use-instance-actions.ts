import { useScope } from '../../app/scope';
import { api } from '../../lib/api';
import { plural, words } from '../../lib/format';
import { asApiError } from '../../lib/problem';
import { taskIdOf, useWrite } from '../../lib/queries';
import type { InstanceVerb } from '../../../../src/modules/compute/contract/instance-states';
import type { Instance } from '../../lib/types';
import { toast } from '../../ui/feedback/toast';
import { followTask } from '../tasks/open-task';
import { whyNot, type InstanceAction } from './instance-rules';

export type PowerVerb = Exclude<
  InstanceVerb,
  | 'force-stop'
  | 'tell-metadata'
  | 'resize'
  | 'balloon'
  | 'core-dump'
  | 'rebuild'
  | 'attach-port'
  | 'detach-port'
  | 'attach-volume'
  | 'detach-volume'
>;

interface Asked {
  instances: Instance[];
  verb: PowerVerb | 'delete';
  force?: boolean;
}

const ask = (instance: Instance, { verb, force }: Asked): Promise<unknown> =>
  verb === 'delete'
    ? api.delete('/instances/{ref}', { path: { ref: instance.id } })
    : verb === 'stop' || verb === 'reboot'
      ? api.post(`/instances/{ref}/actions/${verb}`, {
          path: { ref: instance.id },
          body: force === undefined ? {} : { force },
        })
      : api.post(`/instances/{ref}/actions/${verb}`, { path: { ref: instance.id } });

/** Power verbs and delete for one or many instances. One opens its task; many are summed up in a message. */
export const useInstanceActions = () => {
  const { reasonFor } = useScope();
  const write = useWrite(
    async (asked: Asked) => {
      const results = await Promise.allSettled(asked.instances.map((i) => ask(i, asked)));
      if (asked.instances.length === 1) {
        const only = results[0];
        if (only?.status === 'rejected') throw only.reason;
        followTask(taskIdOf(only?.value));
        return;
      }
      const failed = results.filter((r) => r.status === 'rejected');
      const done = results.length - failed.length;
      if (done > 0) toast.ok(`${words(asked.verb)} requested for ${plural(done, 'instance')}`);
      const first = failed[0];
      if (first !== undefined)
        toast.bad(`${plural(failed.length, 'instance')} refused to ${asked.verb}`, asApiError(first.reason));
    },
    {
      touches: ['instances', 'tasks'],
      onError: (error, asked) => toast.bad(`Could not ${asked.verb} ${asked.instances[0]?.name ?? ''}`, error),
    },
  );

  /** One reason for a whole selection: null when the verb fits at least one and the role allows it. */
  const reason = (instances: Instance[], action: InstanceAction): string | null => {
    const reasons = instances.map((i) => whyNot(i, action, reasonFor(i.projectId)));
    return reasons.some((r) => r === null) ? null : (reasons[0] ?? 'Nothing is selected.');
  };
  const fitting = (instances: Instance[], action: InstanceAction): Instance[] =>
    instances.filter((i) => whyNot(i, action, reasonFor(i.projectId)) === null);

  return {
    write,
    reason,
    run: (instances: Instance[], verb: PowerVerb, force?: boolean) =>
      write.mutate({
        instances: fitting(instances, force === true && verb === 'stop' ? 'force-stop' : verb),
        verb,
        ...(force === undefined ? {} : { force }),
      }),
  };
};
