import type { HostPartProps } from '../../app/feature';
import { bytes } from '../../lib/format';
import type { HostDetail } from '../../lib/types';
import { Cut, Head, Row, Table, Td, Th } from '../../ui/lists/table';
import { Card } from '../../ui/page';

type Pool = NonNullable<HostDetail['inventory']>['pools'][number];

/** The storage pools of a host, on its page. */
export function PoolsCard({ entries }: HostPartProps) {
  return (
    <Card title="Storage pools">
      <Table label="Storage pools">
        <Head>
          <Th>Name</Th>
          <Th>Driver</Th>
          <Th className="text-right">Size</Th>
          <Th className="text-right">Free</Th>
        </Head>
        <tbody>
          {(entries as readonly Pool[]).map((p) => (
            <Row key={p.name}>
              <Td className="max-w-32 font-medium">
                <Cut text={p.name} />
              </Td>
              <Td className="text-dim">{p.driver}</Td>
              <Td className="text-right whitespace-nowrap">{bytes(p.totalBytes)}</Td>
              <Td className="text-right whitespace-nowrap">{bytes(p.freeBytes)}</Td>
            </Row>
          ))}
        </tbody>
      </Table>
    </Card>
  );
}
