import { X } from 'lucide-react';
import { useEffect, useMemo, useState } from 'react';
import { useSearchParams } from 'react-router';
import { useScope } from '../../app/scope';
import type { Query } from '../../lib/api';
import { useDebounced, useList } from '../../lib/queries';
import type { Host } from '../../lib/types';
import { Button } from '../../ui/button';
import { cx } from '../../ui/cx';
import { FilterBar, FilterSelect } from '../../ui/filter-bar';

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
  ['compute.', 'Instances'],
  ['image.', 'Images'],
  ['network.', 'Networks'],
  ['storage.', 'Volumes'],
] as const;
const times = [
  ['', 'Any time'],
  ['1h', 'Last hour'],
  ['24h', 'Last day'],
  ['7d', 'Last week'],
] as const;
const spans: Record<string, number> = { '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000 };
const names = ['state', 'type', 'since', 'host', 'subject', 'system'] as const;

/** The filters of the list of tasks, kept in the address. */
export const useTaskFilters = () => {
  const { query, admin } = useScope();
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
  const createdAfter = useMemo(() => (spans[since] === undefined ? '' : new Date(Date.now() - spans[since]).toISOString()), [since]);
  const state = get('state');
  const system = admin && get('system') === 'true';
  const request: Query = {
    ...query,
    state: state === 'errors' ? '' : state,
    errors: state === 'errors' ? 'true' : '',
    type: get('type'),
    subject: get('subject'),
    host: admin ? get('host') : '',
    createdAfter,
    system: system ? '' : 'false',
  };
  return { request, get, set, system, narrowed: names.some((name) => get(name) !== ''), clear: () => setParams({}, { replace: true }) };
};

type Filters = ReturnType<typeof useTaskFilters>;

/** The row above the list. */
export function TaskFilters({ filters }: { filters: Filters }) {
  const { admin } = useScope();
  const hosts = useList<Host>('hosts', { limit: 500 }, admin);
  const { get, set } = filters;
  const [subject, setSubject] = useState(get('subject'));
  const settled = useDebounced(subject.trim(), 300);
  const current = get('subject');
  useEffect(() => {
    if (settled !== current) set('subject', settled);
    // Only what was typed changes the address.
  }, [settled]);
  return (
    <FilterBar value={subject} onChange={setSubject} label="Subject by name or id">
      <FilterSelect label="State" value={get('state')} onChange={(next) => set('state', next)} options={states} />
      <FilterSelect label="Type" value={get('type')} onChange={(next) => set('type', next)} options={kinds} />
      <FilterSelect label="Time" value={get('since')} onChange={(next) => set('since', next)} options={times} />
      {admin && <FilterSelect label="Host" value={get('host')} onChange={(next) => set('host', next)} options={[['', 'Any host'], ...hosts.items.map((host) => [host.name, host.name] as const)]} />}
      {admin && (
        <button
          type="button"
          role="switch"
          aria-checked={filters.system}
          onClick={() => set('system', filters.system ? '' : 'true')}
          className="ml-auto inline-flex h-8 items-center gap-2 rounded-md px-2 text-sm text-dim hover:bg-sunken hover:text-ink"
        >
          <span aria-hidden className={cx('relative h-4 w-7 rounded-full transition-colors', filters.system ? 'bg-accent' : 'bg-line-strong')}>
            <span className={cx('absolute top-0.5 size-3 rounded-full bg-white transition-[left]', filters.system ? 'left-3.5' : 'left-0.5')} />
          </span>
          System tasks
        </button>
      )}
      {filters.narrowed && (
        <Button
          look="ghost"
          icon={X}
          onClick={() => {
            setSubject('');
            filters.clear();
          }}
        >
          Clear
        </Button>
      )}
    </FilterBar>
  );
}
