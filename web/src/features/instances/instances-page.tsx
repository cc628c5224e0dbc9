import { Box, Play, Plus, RotateCw, SearchX, Square, Trash2, X } from 'lucide-react';
import { useState } from 'react';
import { Link, useSearchParams } from 'react-router';
import { useScope } from '../../app/scope';
import { useDebounced, useList } from '../../lib/queries';
import type { Instance } from '../../lib/types';
import { Button, ButtonLink } from '../../ui/button';
import { Empty } from '../../ui/empty';
import { FilterBar, FilterSelect } from '../../ui/filter-bar';
import { LoadError } from '../../ui/list-states';
import { Card, Page } from '../../ui/page';
import { StateBadge } from '../../ui/state';
import { Cut, Head, LoadMore, NameTd, Row, SkeletonRows, SortTh, Table, Td, Th } from '../../ui/table';
import { Age } from '../../ui/time';
import { DeleteInstances } from './delete-instances';
import { InstanceMenu } from './instance-menu';
import { addressesOf } from './instance-rules';
import { useInstanceActions } from './use-instance-actions';

const states = [
  ['', 'Any state'],
  ['running', 'Running'],
  ['stopped', 'Stopped'],
  ['building', 'Building'],
  ['starting', 'Starting'],
  ['stopping', 'Stopping'],
  ['rebooting', 'Rebooting'],
  ['deleting', 'Deleting'],
  ['unknown', 'Unknown'],
  ['error', 'Error'],
] as const;

export function InstancesPage() {
  const { query, readOnly, project, projectName } = useScope();
  const [params, setParams] = useSearchParams();
  const [name, setName] = useState(params.get('name') ?? '');
  const state = params.get('state') ?? '';
  const [sort, setSort] = useState('-createdAt');
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [deleting, setDeleting] = useState<Instance[]>([]);
  const filter = useDebounced(name.trim());
  const list = useList<Instance>('instances', { ...query, name: filter, state, sort });
  const filtered = filter !== '' || state !== '';
  const empty = list.isSuccess && list.items.length === 0;
  const chosen = list.items.filter((i) => selected.has(i.id));

  const toggle = (id: string, on: boolean): void => {
    const next = new Set(selected);
    if (on) next.add(id);
    else next.delete(id);
    setSelected(next);
  };

  return (
    <Page
      title="Instances"
      description="Virtual machines, as their hosts report them."
      actions={
        readOnly === null ? (
          <ButtonLink to="/instances/new" look="primary" icon={Plus}>
            New instance
          </ButtonLink>
        ) : (
          <Button look="primary" icon={Plus} reason={readOnly}>
            New instance
          </Button>
        )
      }
    >
      <Card>
        <FilterBar value={name} onChange={setName} label="Filter by name">
          <FilterSelect label="State" value={state} onChange={(next) => setParams(next === '' ? {} : { state: next }, { replace: true })} options={states} />
        </FilterBar>
        {chosen.length > 0 && <Selection chosen={chosen} onClear={() => setSelected(new Set())} onDelete={() => setDeleting(chosen)} />}
        {list.error !== null && list.items.length === 0 ? (
          <LoadError error={list.error} onRetry={() => void list.refetch()} />
        ) : empty && filtered ? (
          <Empty
            icon={SearchX}
            title="No instance matches"
            action={
              <Button
                onClick={() => {
                  setName('');
                  setParams({}, { replace: true });
                }}
              >
                Clear the filter
              </Button>
            }
          />
        ) : empty ? (
          <Empty
            icon={Box}
            title={project === null ? 'No instances yet' : `No instances in ${project.name}`}
            action={
              readOnly === null && (
                <ButtonLink to="/instances/new" look="primary" icon={Plus}>
                  Create the first instance
                </ButtonLink>
              )
            }
          >
            {readOnly ?? 'Choose a flavor, an image and a network, and seconds later it runs.'}
          </Empty>
        ) : (
          <Table label="Instances">
            <Head>
              <Th className="w-10 pr-0">
                <input
                  type="checkbox"
                  aria-label="Select all shown"
                  className="block size-4 accent-accent"
                  checked={chosen.length > 0 && chosen.length === list.items.length}
                  ref={(box) => {
                    if (box !== null) box.indeterminate = chosen.length > 0 && chosen.length < list.items.length;
                  }}
                  onChange={(event) => setSelected(event.target.checked ? new Set(list.items.map((i) => i.id)) : new Set())}
                />
              </Th>
              <SortTh by="name" sort={sort} onSort={setSort}>
                Name
              </SortTh>
              <Th>State</Th>
              <Th from="sm">Address</Th>
              <Th from="md">Flavor</Th>
              <Th from="lg">Image</Th>
              <Th from="lg">Host</Th>
              {project === null && <Th from="xl">Project</Th>}
              <SortTh by="createdAt" sort={sort} onSort={setSort} from="sm">
                Age
              </SortTh>
              <Th className="w-12">
                <span className="sr-only">Actions</span>
              </Th>
            </Head>
            <tbody aria-busy={list.isPending}>
              {list.isPending && <SkeletonRows columns={10} />}
              {list.items.map((i) => (
                <Row key={i.id} selected={selected.has(i.id)}>
                  <Td className="w-10 pr-0">
                    <input
                      type="checkbox"
                      aria-label={`Select ${i.name}`}
                      className="block size-4 accent-accent"
                      checked={selected.has(i.id)}
                      onChange={(event) => toggle(i.id, event.target.checked)}
                    />
                  </Td>
                  <NameTd>
                    <Link to={`/instances/${i.id}`} title={i.name} className="block truncate rounded font-medium hover:underline">
                      {i.name}
                    </Link>
                    <span className="block truncate text-xs text-dim @md:hidden">{addressesOf(i)}</span>
                  </NameTd>
                  <Td>
                    <StateBadge state={i.state} title={i.stateReason} />
                  </Td>
                  <Td from="sm" className="max-w-40 font-mono text-xs">
                    <Cut text={addressesOf(i)} />
                  </Td>
                  <Td from="md" className="max-w-32">
                    <Cut text={i.flavor.name} />
                  </Td>
                  <Td from="lg" className="max-w-32 text-dim">
                    <Cut text={i.image.name} />
                  </Td>
                  <Td from="lg" className="max-w-32 text-dim">
                    <Cut text={i.host?.name ?? '–'} />
                  </Td>
                  {project === null && (
                    <Td from="xl" className="max-w-36 text-dim">
                      <Cut text={projectName(i.projectId)} />
                    </Td>
                  )}
                  <Td from="sm" className="text-dim">
                    <Age at={i.createdAt} />
                  </Td>
                  <Td className="w-12 py-0 text-right">
                    <InstanceMenu instance={i} onDelete={() => setDeleting([i])} />
                  </Td>
                </Row>
              ))}
            </tbody>
          </Table>
        )}
        <LoadMore shown={list.items.length} more={list.hasNextPage} busy={list.isFetchingNextPage} onMore={() => void list.fetchNextPage()} />
      </Card>
      <DeleteInstances
        instances={deleting}
        onClose={() => setDeleting([])}
        onDone={() => {
          setDeleting([]);
          setSelected(new Set());
        }}
      />
    </Page>
  );
}

/** What can be done with the rows that are ticked. A verb works on those it fits. */
function Selection({ chosen, onClear, onDelete }: { chosen: Instance[]; onClear: () => void; onDelete: () => void }) {
  const { run, reason } = useInstanceActions();
  return (
    <div role="toolbar" aria-label="Actions for the selection" className="flex flex-wrap items-center gap-1.5 border-b border-line bg-accent-soft/60 px-4 py-2">
      <span className="nums mr-2 text-sm font-medium">{chosen.length} selected</span>
      <Button size="sm" icon={Play} reason={reason(chosen, 'start')} onClick={() => run(chosen, 'start')}>
        Start
      </Button>
      <Button size="sm" icon={Square} reason={reason(chosen, 'stop')} onClick={() => run(chosen, 'stop')}>
        Stop
      </Button>
      <Button size="sm" icon={RotateCw} reason={reason(chosen, 'reboot')} onClick={() => run(chosen, 'reboot')}>
        Reboot
      </Button>
      <Button size="sm" icon={Trash2} reason={reason(chosen, 'delete')} onClick={onDelete}>
        Delete…
      </Button>
      <Button size="sm" look="ghost" icon={X} onClick={onClear} className="ml-auto">
        Clear
      </Button>
    </div>
  );
}
