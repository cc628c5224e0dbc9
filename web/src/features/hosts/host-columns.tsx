import { Link } from 'react-router';
import { bytes } from '../../lib/format';
import type { Host } from '../../lib/types';
import { Badge } from '../../ui/feedback/badge';
import type { Column } from '../../ui/lists/list-page';
import { Meter } from '../../ui/feedback/meter';
import { StateBadge } from '../../ui/feedback/state';
import { Cut } from '../../ui/lists/table';
import { Age } from '../../ui/time';

export const hostColumns: Column<Host>[] = [
  {
    head: 'Name',
    name: true,
    cell: (h) => (
      <>
        <Link to={`/hosts/${h.id}`} title={h.name} className="block truncate rounded font-medium hover:underline">
          {h.name}
        </Link>
        <Cut text={h.address} className="font-mono text-xs text-dim" />
      </>
    ),
  },
  {
    head: 'State',
    cell: (h) => (
      <span className="flex flex-wrap gap-1.5">
        <StateBadge state={h.state} />
        {h.breaker !== 'closed' && (
          <Badge tone="warn" title="Calls to this host failed and are held back.">
            breaker {h.breaker}
          </Badge>
        )}
      </span>
    ),
  },
  {
    head: 'Instances',
    from: 'sm',
    headClassName: 'text-right',
    className: 'text-right',
    cell: (h) => h.capacity.instances,
  },
  {
    head: 'vCPUs',
    from: 'md',
    className: 'w-36',
    cell: (h) => <Meter compact label="used" used={h.capacity.vcpusUsed} total={h.capacity.vcpus} show={String} />,
  },
  {
    head: 'Memory',
    from: 'md',
    className: 'w-48',
    cell: (h) => (
      <Meter compact label="used" used={h.capacity.memoryBytesUsed} total={h.capacity.memoryBytes} show={bytes} />
    ),
  },
  {
    head: 'Disk',
    from: 'lg',
    className: 'w-48',
    cell: (h) => (
      <Meter compact label="used" used={h.capacity.diskBytesUsed} total={h.capacity.diskBytes} show={bytes} />
    ),
  },
  {
    head: 'Last seen',
    from: 'sm',
    className: 'text-dim',
    cell: (h) => (h.lastSeenAt === null ? 'never' : <Age at={h.lastSeenAt} suffix=" ago" />),
  },
];
