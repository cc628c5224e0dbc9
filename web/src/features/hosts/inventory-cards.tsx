import { useFeatures } from '../../app/use-features';
import { bytes, plural } from '../../lib/format';
import type { HostDetail } from '../../lib/types';
import { Card, Facts } from '../../ui/page';
import { Cut, Head, Row, Table, Td, Th } from '../../ui/lists/table';

type Inventory = NonNullable<HostDetail['inventory']>;

/** What the host says it is made of. */
export function InventoryCards({ inventory }: { inventory: Inventory }) {
  return (
    <>
      <Machine inventory={inventory} />
      {Object.entries(useFeatures().hostParts).map(([part, Part]) => (
        <Part key={part} entries={(inventory as Record<string, unknown>)[part] as readonly unknown[]} />
      ))}
      <Disks inventory={inventory} />
      <NetworkCards inventory={inventory} />
    </>
  );
}

function Machine({ inventory: v }: { inventory: Inventory }) {
  return (
    <Card title="Machine">
      <Facts
        items={[
          ['Hostname', v.hostname],
          ['Processor', `${v.cpu.model} · ${plural(v.cpu.threads, 'thread')}, ${plural(v.cpu.numaNodes, 'NUMA node')}`],
          ['Memory', bytes(v.memory.totalBytes)],
          ['Kernel', `${v.kernel} · ${v.architecture}`],
          ['Agent', v.agentVersion],
        ]}
      />
    </Card>
  );
}

function Disks({ inventory: v }: { inventory: Inventory }) {
  return (
    <Card title="Disks">
      <Table label="Disks">
        <Head>
          <Th>Name</Th>
          <Th>Kind</Th>
          <Th className="text-right">Size</Th>
        </Head>
        <tbody>
          {v.disks.map((d) => (
            <Row key={d.name}>
              <Td className="max-w-32">
                <Cut text={d.name} />
              </Td>
              <Td className="max-w-40 text-dim">
                <Cut text={`${d.rotational ? 'disk' : 'SSD'}${d.model === '' ? '' : `, ${d.model}`}`} />
              </Td>
              <Td className="text-right whitespace-nowrap">{bytes(d.sizeBytes)}</Td>
            </Row>
          ))}
        </tbody>
      </Table>
    </Card>
  );
}

function NetworkCards({ inventory: v }: { inventory: Inventory }) {
  return (
    <Card title="Network cards">
      <Table label="Network cards">
        <Head>
          <Th>Name</Th>
          <Th>Link</Th>
          <Th from="sm">MAC</Th>
          <Th className="text-right">MTU</Th>
        </Head>
        <tbody>
          {v.nics.map((n) => (
            <Row key={n.name}>
              <Td className="max-w-32 font-medium">
                <Cut text={n.name} />
              </Td>
              <Td className="text-dim">
                {n.up
                  ? `up${n.speedMbit === null ? '' : `, ${n.speedMbit >= 1000 ? `${n.speedMbit / 1000} Gbit/s` : `${n.speedMbit} Mbit/s`}`}`
                  : 'down'}
              </Td>
              <Td from="sm" className="font-mono text-xs text-dim">
                {n.mac}
              </Td>
              <Td className="text-right">{n.mtu}</Td>
            </Row>
          ))}
        </tbody>
      </Table>
    </Card>
  );
}
