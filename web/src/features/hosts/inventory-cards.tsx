import { capabilityInWords } from '../../../../src/modules/compute/contract/vmm-capabilities';
import { bytes, plural } from '../../lib/format';
import type { HostDetail } from '../../lib/types';
import { Badge } from '../../ui/feedback/badge';
import { Card, Facts } from '../../ui/page';
import { Cut, Head, Row, Table, Td, Th } from '../../ui/lists/table';
import { Check, X } from 'lucide-react';

type Inventory = NonNullable<HostDetail['inventory']>;

/** What the host says it is made of. */
export function InventoryCards({ inventory }: { inventory: Inventory }) {
  return (
    <>
      <Machine inventory={inventory} />
      <Vmms inventory={inventory} />
      <Storage inventory={inventory} />
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

function Vmms({ inventory: v }: { inventory: Inventory }) {
  return (
    <Card title="VMMs">
      <ul className="divide-y divide-line">
        {v.vmms.map((m) => (
          <li key={m.kind} className="px-4 py-2.5 text-sm">
            <div className="flex items-center gap-2">
              <span className="font-medium">{m.kind}</span>
              <span className="text-dim">{m.version}</span>
              <span className="ml-auto">
                <Badge tone={m.usable ? 'ok' : 'warn'} icon={m.usable ? Check : X}>
                  {m.usable ? `usable, ${m.accel}` : 'not usable'}
                </Badge>
              </span>
            </div>
            {m.reason !== '' && <p className="mt-0.5 text-xs text-dim">{m.reason}</p>}
            {m.usable && m.capabilities.length > 0 && (
              <p className="mt-0.5 text-xs text-dim">{m.capabilities.map(capabilityInWords).join(', ')}</p>
            )}
            {m.warning !== undefined && <p className="mt-0.5 text-xs text-warn">{m.warning}</p>}
          </li>
        ))}
        {v.vmms.length === 0 && <li className="px-4 py-4 text-sm text-dim">None found.</li>}
      </ul>
    </Card>
  );
}

function Storage({ inventory: v }: { inventory: Inventory }) {
  return (
    <Card title="Storage">
      <Table label="Storage">
        <Head>
          <Th>Name</Th>
          <Th>Kind</Th>
          <Th className="text-right">Size</Th>
          <Th className="text-right">Free</Th>
        </Head>
        <tbody>
          {v.pools.map((p) => (
            <Row key={`pool ${p.name}`}>
              <Td className="max-w-32 font-medium">
                <Cut text={p.name} />
              </Td>
              <Td className="text-dim">pool, {p.driver}</Td>
              <Td className="text-right whitespace-nowrap">{bytes(p.totalBytes)}</Td>
              <Td className="text-right whitespace-nowrap">{bytes(p.freeBytes)}</Td>
            </Row>
          ))}
          {v.disks.map((d) => (
            <Row key={`disk ${d.name}`}>
              <Td className="max-w-32">
                <Cut text={d.name} />
              </Td>
              <Td className="max-w-40 text-dim">
                <Cut text={`${d.rotational ? 'disk' : 'SSD'}${d.model === '' ? '' : `, ${d.model}`}`} />
              </Td>
              <Td className="text-right whitespace-nowrap">{bytes(d.sizeBytes)}</Td>
              <Td className="text-right text-dim">–</Td>
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
