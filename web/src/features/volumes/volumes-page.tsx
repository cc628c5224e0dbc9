import { HardDrive } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'react-router';
import { useScope } from '../../app/scope';
import { bytes } from '../../lib/format';
import { useList } from '../../lib/queries';
import type { Volume } from '../../lib/types';
import { ButtonLink } from '../../ui/button';
import { Collection, matches } from '../../ui/collection';
import { useInstanceNames } from '../instances/use-instance-names';
import { Page } from '../../ui/page';
import { StateBadge } from '../../ui/state';
import { NameTd, Cut, Row, Td, Th } from '../../ui/table';
import { Age } from '../../ui/time';

export default function VolumesPage() {
  const { query } = useScope();
  const list = useList<Volume>('volumes', query);
  const nameOf = useInstanceNames(query);
  const [filter, setFilter] = useState('');
  return (
    <Page title="Volumes" description="Disks of instances. A root volume is made with its instance and goes with it.">
      <Collection
        label="Volumes"
        list={list}
        items={list.items.filter((v) => matches(v.name, filter))}
        filter={filter}
        onFilter={setFilter}
        columns={8}
        empty={{ icon: HardDrive, title: 'No volumes yet', text: 'Every instance gets a root volume, made from its image.', action: <ButtonLink to="/instances/new">New instance</ButtonLink> }}
        head={
          <>
            <Th>Name</Th>
            <Th>State</Th>
            <Th from="md">Role</Th>
            <Th className="text-right">Size</Th>
            <Th from="sm">Instance</Th>
            <Th from="md">Pool</Th>
            <Th from="md">Host</Th>
            <Th from="lg">Age</Th>
          </>
        }
        row={(v) => (
          <Row key={v.id}>
            <NameTd>
              <Cut text={v.name} className="font-medium" />
            </NameTd>
            <Td>
              <StateBadge state={v.state} />
            </Td>
            <Td from="md" className="text-dim">
              {v.role}
            </Td>
            <Td className="text-right whitespace-nowrap">{bytes(v.bytes)}</Td>
            <Td from="sm" className="max-w-48">
              {v.instanceId === null ? (
                <span className="text-dim">none</span>
              ) : (
                <Link to={`/instances/${v.instanceId}`} title={nameOf(v.instanceId)} className="block truncate text-accent-text hover:underline">
                  {nameOf(v.instanceId)}
                </Link>
              )}
            </Td>
            <Td from="md" className="text-dim">
              {v.pool}
            </Td>
            <Td from="md" className="max-w-40 text-dim">
              <Cut text={v.host?.name ?? '–'} />
            </Td>
            <Td from="lg" className="text-dim">
              <Age at={v.createdAt} />
            </Td>
          </Row>
        )}
      />
    </Page>
  );
}
