import { formatCpuList } from '../../../../src/core/host/cpus/cpu-list';
import { useFeatures } from '../../app/use-features';
import { bytes, plural } from '../../lib/format';
import type { HostDetail } from '../../lib/types';
import { Card, Facts } from '../../ui/page';
import { Cut, Head, Row, Table, Td, Th } from '../../ui/lists/table';
import { OtherPart } from './other-part';

type Inventory = NonNullable<HostDetail['inventory']>;

/** Lists that every machine has, and that are shown here. */
const ownLists = ['disks', 'nics'];

/** What the host says it is made of: the machine, the parts of features, and those that no feature shows. */
export function InventoryCards({ inventory, nodes }: { inventory: Inventory; nodes: HostDetail['capacity']['nodes'] }) {
  const { hostParts } = useFeatures();
  const lists = Object.entries(inventory as Record<string, unknown>).filter(
    (entry): entry is [string, unknown[]] => Array.isArray(entry[1]) && !ownLists.includes(entry[0]),
  );
  const reported = new Map(lists);
  return (
    <>
      <Machine inventory={inventory} />
      {inventory.cpu.nodes !== undefined && <NumaNodes nodes={inventory.cpu.nodes} room={nodes} />}
      {Object.entries(hostParts).map(([part, Part]) => (
        <Part key={part} entries={reported.get(part) ?? []} />
      ))}
      {lists.map(
        ([part, entries]) => !Object.hasOwn(hostParts, part) && <OtherPart key={part} part={part} entries={entries} />,
      )}
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

function NumaNodes({
  nodes,
  room,
}: {
  nodes: NonNullable<Inventory['cpu']['nodes']>;
  room: HostDetail['capacity']['nodes'];
}) {
  return (
    <Card title="NUMA nodes">
      <Table label="NUMA nodes">
        <Head>
          <Th>Node</Th>
          <Th>CPUs</Th>
          <Th from="sm">Set aside</Th>
          <Th>Given out</Th>
          <Th className="text-right">Memory</Th>
        </Head>
        <tbody>
          {nodes.map(({ node, cores, dedicatedCpus, memoryBytes }) => (
            <Row key={node}>
              <Td className="font-medium">{node}</Td>
              <Td className="max-w-32 text-dim">
                <Cut text={formatCpuList(cores.flat())} />
              </Td>
              <Td from="sm" className="max-w-32 text-dim">
                <Cut text={dedicatedCpus.length === 0 ? 'none' : formatCpuList(dedicatedCpus)} />
              </Td>
              <Td className="text-dim">
                {dedicatedCpus.length === 0
                  ? ''
                  : `${room.find((one) => one.node === node)?.dedicatedCpusUsed ?? 0} of ${dedicatedCpus.length}`}
              </Td>
              <Td className="text-right whitespace-nowrap">{bytes(memoryBytes)}</Td>
            </Row>
          ))}
        </tbody>
      </Table>
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
