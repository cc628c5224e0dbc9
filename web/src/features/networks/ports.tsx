import { useList } from '../../lib/queries';
import type { Network } from '../../lib/types';
import { Card } from '../../ui/page';
import { PlainList } from '../../ui/lists/plain-list';
import { Ref } from '../../ui/ref';
import { StateBadge } from '../../ui/feedback/state';
import { Head, NameTd, Row, SkeletonRows, Table, Td, Th } from '../../ui/lists/table';
import { useInstanceNames } from '../instances/use-instance-names';

/** Which instance has which address of a network. */
export function Ports({ network }: { network: Network }) {
  const list = useList('/ports', { query: { project: network.projectId, network: network.id } });
  const nameOf = useInstanceNames({ project: network.projectId });
  return (
    <Card title="Ports">
      <PlainList list={list} empty="No instance has an address in it.">
        <Table label="Ports">
          <Head>
            <Th>Address</Th>
            <Th>State</Th>
            <Th from="sm">MAC</Th>
            <Th className="w-full">Instance</Th>
          </Head>
          <tbody>
            {list.isPending && <SkeletonRows columns={4} rows={2} />}
            {list.items.map((p) => (
              <Row key={p.id}>
                <Td className="font-mono text-xs">{p.address}</Td>
                <Td>
                  <StateBadge state={p.state} title={p.message} />
                </Td>
                <Td from="sm" className="font-mono text-xs text-dim">
                  {p.mac}
                </Td>
                <NameTd>
                  {p.instanceId === null ? (
                    <span className="text-dim">none</span>
                  ) : (
                    <Ref to={`/instances/${p.instanceId}`}>{nameOf(p.instanceId)}</Ref>
                  )}
                </NameTd>
              </Row>
            ))}
          </tbody>
        </Table>
      </PlainList>
    </Card>
  );
}
