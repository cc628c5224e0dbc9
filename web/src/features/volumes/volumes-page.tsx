import { HardDrive } from 'lucide-react';
import { Link } from 'react-router';
import { useProjectColumn } from '../../app/shell/project-column';
import { useScope } from '../../app/scope';
import { bytes } from '../../lib/format';
import { useList } from '../../lib/queries';
import type { Volume } from '../../lib/types';
import { ButtonLink } from '../../ui/button';
import { ListPage, type Column } from '../../ui/lists/list-page';
import { useSearchFilter } from '../../ui/lists/search-filter';
import { StateBadge } from '../../ui/feedback/state';
import { Cut } from '../../ui/lists/table';
import { Age } from '../../ui/time';
import { useInstanceNames } from '../instances/use-instance-names';

export default function VolumesPage() {
  const search = useSearchFilter();
  const { query, admin } = useScope();
  const nameOf = useInstanceNames(query);
  return (
    <ListPage
      title="Volumes"
      description="Disks of instances. A root volume is made with its instance and goes with it."
      list={useList('/volumes', { query: { ...query, q: search.q } })}
      search={search}
      empty={{
        icon: HardDrive,
        title: 'No volumes yet',
        text: 'Every instance gets a root volume, made from its image.',
        action: <ButtonLink to="/instances/new">New instance</ButtonLink>,
      }}
      columns={[
        { head: 'Name', name: true, cell: (v) => <Cut text={v.name} className="font-medium" /> },
        { head: 'State', cell: (v) => <StateBadge state={v.state} /> },
        { head: 'Role', from: 'md', className: 'text-dim', cell: (v) => v.role },
        {
          head: 'Size',
          headClassName: 'text-right',
          className: 'text-right whitespace-nowrap',
          cell: (v) => bytes(v.bytes),
        },
        {
          head: 'Instance',
          from: 'sm',
          className: 'max-w-48',
          cell: (v) =>
            v.instanceId === null ? (
              <span className="text-dim">none</span>
            ) : (
              <Link
                to={`/instances/${v.instanceId}`}
                title={nameOf(v.instanceId)}
                className="block truncate text-accent-text hover:underline"
              >
                {nameOf(v.instanceId)}
              </Link>
            ),
        },
        { head: 'Pool', from: 'md', className: 'text-dim', cell: (v) => v.pool },
        // Only administrators see hosts.
        ...(admin
          ? [
              {
                head: 'Host',
                from: 'md',
                className: 'max-w-40 text-dim',
                cell: (v) => <Cut text={v.host?.name ?? '–'} />,
              } satisfies Column<Volume>,
            ]
          : []),
        ...useProjectColumn<Volume>(),
        { head: 'Age', from: 'lg', className: 'text-dim', cell: (v) => <Age at={v.createdAt} /> },
      ]}
    />
  );
}
