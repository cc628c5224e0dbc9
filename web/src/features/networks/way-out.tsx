import type { Network } from '../../lib/types';
import { Card } from '../../ui/page';

/** What guests of a network reach beyond it, in words. */
export function WayOut({ network }: { network: Network }) {
  const egress = network.guestEgress;
  return (
    <Card title="Way out">
      <div className="p-4">
        {egress === null ? (
          <p className="text-sm text-dim">None: guests reach each other, and the subnets of their router.</p>
        ) : (
          <>
            <p className="text-sm text-dim">
              Everything behind the host&apos;s uplink, by NAT. Not the cloud&apos;s own hosts, nor networks that a host
              is directly connected to.
            </p>
            {egress.allow.length > 0 && <Ranges label="Reached all the same" ranges={egress.allow} />}
            {egress.deny.length > 0 && <Ranges label="Not reached either" ranges={egress.deny} />}
          </>
        )}
      </div>
    </Card>
  );
}

function Ranges({ label, ranges }: { label: string; ranges: string[] }) {
  return (
    <p className="mt-1 text-sm text-dim">
      {label}: <span className="font-mono text-xs break-words">{ranges.join(', ')}</span>
    </p>
  );
}
