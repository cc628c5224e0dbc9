import { Check, X } from 'lucide-react';
import { capabilityInWords } from '../../../../src/modules/compute/contract/vmm-capabilities';
import type { HostPartProps } from '../../app/feature';
import type { HostDetail } from '../../lib/types';
import { Badge } from '../../ui/feedback/badge';
import { Card } from '../../ui/page';

type Vmm = NonNullable<HostDetail['inventory']>['vmms'][number];

/** The virtual machine monitors of a host, on its page. */
export function VmmsCard({ entries }: HostPartProps) {
  const vmms = entries as readonly Vmm[];
  return (
    <Card title="VMMs">
      <ul className="divide-y divide-line">
        {vmms.map((m) => (
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
            {m.usable && (m.cpuModels?.length ?? 0) > 0 && (
              <p className="mt-0.5 text-xs text-dim">Models of CPUs: {m.cpuModels?.join(', ')}</p>
            )}
            {m.warning !== undefined && <p className="mt-0.5 text-xs text-warn">{m.warning}</p>}
          </li>
        ))}
        {vmms.length === 0 && <li className="px-4 py-4 text-sm text-dim">None found.</li>}
      </ul>
    </Card>
  );
}
