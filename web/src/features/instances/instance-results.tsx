import { useEffect } from 'react';
import { useNavigate } from 'react-router';
import type { PaletteResultsProps } from '../../app/feature';
import { useScope } from '../../app/scope';
import { useDebounced, useList } from '../../lib/queries';
import type { Instance } from '../../lib/types';
import { StateBadge } from '../../ui/feedback/state';
import { DeleteInstances } from './delete-instances';
import type { InstanceAction } from './instance-rules';
import { useInstanceActions, type PowerVerb } from './use-instance-actions';

/**
 * What a verb and the beginning of a name may mean in the palette: the verb on each instance that is found, or why it
 * cannot be.
 */
export default function InstanceResults({ verb, rest, Group, Item, onAsk, onDone, onChoice }: PaletteResultsProps) {
  const { query } = useScope();
  const navigate = useNavigate();
  const { run, reason } = useInstanceActions();
  const action = verb.action as Exclude<
    InstanceAction,
    | 'edit'
    | 'force-stop'
    | 'unlock'
    | 'resize'
    | 'balloon'
    | 'core-dump'
    | 'rebuild'
    | 'rescue'
    | 'unrescue'
    | 'attach-port'
    | 'detach-port'
    | 'attach-volume'
    | 'detach-volume'
  >;
  const q = useDebounced(rest, 120);
  const found = useList('/instances', { query: { ...query, limit: 8, q } });
  const act = (instance: Instance) => () => {
    if (action === 'delete') return onAsk(<DeleteInstances instances={[instance]} onClose={onDone} onDone={onDone} />);
    onDone();
    if (action === 'console') void navigate(`/instances/${instance.id}?tab=console`);
    else run([instance], action satisfies PowerVerb);
  };
  const possible = found.items.find((i) => reason([i], action) === null);
  const best = possible === undefined ? '' : `${action} ${possible.id}`;
  useEffect(() => {
    if (best !== '') onChoice(best);
  }, [best, onChoice]);
  if (found.items.length === 0) return null;
  return (
    <Group heading="Actions">
      {found.items.map((i) => (
        <Item
          key={i.id}
          icon={verb.icon}
          value={`${action} ${i.id}`}
          reason={reason([i], action)}
          onSelect={act(i)}
          aside={<StateBadge state={i.state} />}
        >
          {verb.label} {i.name}
          {action === 'delete' && '…'}
        </Item>
      ))}
    </Group>
  );
}
