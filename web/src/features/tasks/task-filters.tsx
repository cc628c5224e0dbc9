import { X } from 'lucide-react';
import { useMemo } from 'react';
import { useSearchParams } from 'react-router';
import { useScope } from '../../app/scope';
import type { QueryOf } from '../../../../src/rest/rest-call';
import { useList } from '../../lib/queries';
import { Button } from '../../ui/button';
import { cx } from '../../ui/cx';
import { FilterSelect } from '../../ui/lists/filter-bar';
import { useSearchFilter } from '../../ui/lists/search-filter';

const states = [
  ['', 'Any state'],
  ['live', 'At work'],
  ['errors', 'With errors'],
  ['succeeded', 'Succeeded'],
  ['failed', 'Failed'],
  ['cancelled', 'Cancelled'],
  ['stuck', 'Stuck'],
] as const;
const kinds = [
  ['', 'Any type'],
  ['instance.', 'Instances'],
  ['image.', 'Images'],
  ['host.', 'Hosts'],
] as const;
const times = [
  ['', 'Any time'],
  ['1h', 'Last hour'],
  ['24h', 'Last day'],
  ['7d', 'Last week'],
] as const;
const spans: Record<string, number> = { '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000 };
const names = ['state', 'type', 'since', 'host', 'system'] as const;

/** The filters of the list of tasks, kept in the address. */
export const useTaskFilters = () => {
  const { query, admin } = useScope();
  const search = useSearchFilter();
  const [params, setParams] = useSearchParams();
  const get = (name: (typeof names)[number]): string => params.get(name) ?? '';
  const set = (name: (typeof names)[number], value: string): void =>
    setParams(
      (old) => {
        const next = new URLSearchParams(old);
        if (value === '') next.delete(name);
        else next.set(name, value);
        return next;
      },
      { replace: true },
    );
  const since = get('since');
  const createdAfter = useMemo(
    () => (spans[since] === undefined ? '' : new Date(Date.now() - spans[since]).toISOString()),
    [since],
  );
  const state = get('state');
  const system = admin && get('system') === 'true';
  const request: QueryOf<'get', '/tasks'> = {
    ...query,
    state: state === 'errors' ? '' : state,
    ...(state === 'errors' ? { errors: 'true' } : {}),
    type: get('type'),
    q: search.q,
    host: admin ? get('host') : '',
    createdAfter,
    ...(system ? {} : { system: 'false' }),
  };
  return {
    request,
    search,
    get,
    set,
    system,
    narrowed: names.some((name) => get(name) !== ''),
    clear: () => setParams({}, { replace: true }),
  };
};

type Filters = ReturnType<typeof useTaskFilters>;

/** Beside the filter box. */
export function TaskFilters({ filters }: { filters: Filters }) {
  const { admin } = useScope();
  const hosts = useList('/hosts', { query: { limit: 500 }, enabled: admin });
  const { get, set } = filters;
  return (
    <>
      <FilterSelect label="State" value={get('state')} onChange={(next) => set('state', next)} options={states} />
      <FilterSelect label="Type" value={get('type')} onChange={(next) => set('type', next)} options={kinds} />
      <FilterSelect label="Time" value={get('since')} onChange={(next) => set('since', next)} options={times} />
      {admin && (
        <FilterSelect
          label="Host"
          value={get('host')}
          onChange={(next) => set('host', next)}
          options={[['', 'Any host'], ...hosts.items.map((host) => [host.name, host.name] as const)]}
        />
      )}
      {admin && (
        <button
          type="button"
          role="switch"
          aria-checked={filters.system}
          onClick={() => set('system', filters.system ? '' : 'true')}
          className="ml-auto inline-flex h-8 items-center gap-2 rounded-md px-2 text-sm text-dim hover:bg-sunken hover:text-ink"
        >
          <span
            aria-hidden
            className={cx(
              'relative h-4 w-7 rounded-full transition-colors',
              filters.system ? 'bg-accent' : 'bg-line-strong',
            )}
          >
            <span
              className={cx(
                'absolute top-0.5 size-3 rounded-full bg-white transition-[left]',
                filters.system ? 'left-3.5' : 'left-0.5',
              )}
            />
          </span>
          System tasks
        </button>
      )}
      {(filters.narrowed || filters.search.text !== '') && (
        <Button
          look="ghost"
          icon={X}
          onClick={() => {
            filters.search.setText('');
            filters.clear();
          }}
        >
          Clear
        </Button>
      )}
    </>
  );
}
