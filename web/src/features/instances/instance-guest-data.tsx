import { Box } from 'lucide-react';
import { bytes } from '../../lib/format';
import { useOne } from '../../lib/queries';
import type { Instance } from '../../lib/types';
import { Empty } from '../../ui/feedback/empty';
import { LoadError } from '../../ui/lists/list-states';
import { Card, Facts } from '../../ui/page';
import { Skeleton } from '../../ui/lists/table';

/** JSON on several lines; anything else as it is. */
const readable = (path: string, text: string): string => {
  if (!path.endsWith('.json')) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
};

/** What the guest's agent reads of the cloud, as the instance's host has it. */
export function InstanceGuestData({ instance: { id, state } }: { instance: Instance }) {
  // Its host has it only once it is built.
  const built = state !== 'building';
  const result = useOne('/instances/{ref}/guest-data', id, { enabled: built });
  if (!built)
    return (
      <Card>
        <Empty icon={Box} title="It is still being built">
          What its guest reads is made on the way, and shows here then.
        </Empty>
      </Card>
    );
  if (result.error !== null && result.data === undefined)
    return <LoadError error={result.error} onRetry={() => void result.refetch()} />;
  if (result.data === undefined) return <Skeleton className="h-40" />;
  return (
    <div className="space-y-5">
      <Card title="What the guest reads">
        <Facts
          items={[
            ['Hostname', result.data.hostname],
            ['Metadata service', 'http://169.254.169.254/'],
          ]}
        />
      </Card>
      {result.data.files.map(({ path, bytes: size, text }) => (
        <Card key={path} title={`${path} · ${bytes(size)}`}>
          {text === null ? (
            <p className="p-4 text-sm text-dim">This is no text. The guest gets it byte for byte.</p>
          ) : (
            <pre
              tabIndex={0}
              role="group"
              aria-label={path}
              className="max-h-96 overflow-auto p-4 font-mono text-xs whitespace-pre-wrap break-words"
            >
              {readable(path, text)}
            </pre>
          )}
        </Card>
      ))}
    </div>
  );
}
