import { bytes } from '../../lib/format';
import { useOne } from '../../lib/queries';
import type { Instance } from '../../lib/types';
import { Card, Facts } from '../../ui/page';
import { Age } from '../../ui/time';

/** What its guest has of its memory, asked of its host while somebody looks. */
export function InstanceMemoryCard({ instance }: { instance: Instance }) {
  const { data: memory, error } = useOne('/instances/{ref}/memory', instance.id, { everyMs: 10_000 });
  if (memory === undefined)
    return (
      <Card title="Memory">
        <p className="px-4 py-3 text-sm text-dim">{error === null ? 'Asking its host…' : error.message}</p>
      </Card>
    );
  const { guest, heldBytes, memoryBytes, targetBytes } = memory;
  return (
    <Card title="Memory">
      <Facts
        items={[
          ['Its machine has', bytes(memoryBytes)],
          ['Its guest was asked to keep', targetBytes === null ? 'all of it' : bytes(targetBytes)],
          ['It keeps', bytes(heldBytes)],
          guest === null
            ? ['It says', 'nothing of itself']
            : [
                'It says',
                <span key="says">
                  {bytes(guest.totalBytes - guest.availableBytes)} used, {bytes(guest.availableBytes)} available,{' '}
                  <Age at={guest.at} suffix=" ago" />
                </span>,
              ],
        ]}
      />
    </Card>
  );
}
