import { Search, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../lib/api';
import { vcctl } from '../../lib/command';
import { bytes, plural } from '../../lib/format';
import { useOne, useWrite } from '../../lib/queries';
import type { Host, Leftover } from '../../lib/types';
import { Button } from '../../ui/button';
import { ConfirmDelete } from '../../ui/dialogs/confirm-delete';
import { LoadError } from '../../ui/lists/list-states';
import { Cut, Head, Row, SkeletonRows, Table, Td, Th } from '../../ui/lists/table';
import { Card } from '../../ui/page';
import { Age } from '../../ui/time';
import { followTask } from '../tasks/open-task';

/** The host looks at itself each time: not as often as lists are read. */
const everyMs = 60_000;
/** Of one removal. */
const atOnce = 100;
const nameOf = ({ kind, name }: Leftover): string => `${kind}:${name}`;

/** What lies on a host and belongs to nothing: looked for when asked, removed when confirmed. */
export function HostLeftovers({ host }: { host: Host }) {
  const [wanted, setWanted] = useState(false);
  const [chosen, setChosen] = useState<readonly Leftover[] | null>(null);
  const result = useOne('/hosts/{ref}/leftovers', host.id, { enabled: wanted, everyMs });
  const removal = useWrite(
    (leftovers: readonly Leftover[]) =>
      api.post('/hosts/{ref}/actions/remove-leftovers', {
        path: { ref: host.id },
        body: { leftovers: leftovers.map(({ kind, name, mark }) => ({ kind, name, mark })) },
      }),
    {
      touches: ['hosts', 'tasks'],
      onDone: ({ taskId }) => {
        setChosen(null);
        followTask(taskId);
      },
    },
  );
  const ask = (leftovers: readonly Leftover[]): void => {
    removal.reset();
    setChosen(leftovers);
  };
  const found = result.data?.leftovers ?? [];
  return (
    <Card
      title="Leftovers"
      action={
        <>
          {found.length > 0 && (
            <Button look="ghost" icon={Trash2} onClick={() => ask(found.slice(0, atOnce))}>
              Remove all…
            </Button>
          )}
          <Button
            look="ghost"
            icon={Search}
            busy={wanted && result.isFetching}
            hint={vcctl(['host', 'leftovers', host.name])}
            onClick={() => (wanted ? void result.refetch() : setWanted(true))}
          >
            Look
          </Button>
        </>
      }
    >
      {!wanted && <p className="px-4 py-4 text-sm text-dim">What lies on it and belongs to nothing.</p>}
      {wanted && result.error !== null && <LoadError error={result.error} onRetry={() => void result.refetch()} />}
      {wanted && result.error === null && result.data !== undefined && found.length === 0 && (
        <p className="px-4 py-4 text-sm text-dim">Nothing on it belongs to nothing.</p>
      )}
      {wanted && result.error === null && (result.data === undefined || found.length > 0) && (
        <Found leftovers={found} pending={result.data === undefined} onRemove={(one) => ask([one])} />
      )}
      {(result.data?.failed.length ?? 0) > 0 && (
        <p className="px-4 py-3 text-sm text-warn">It could not look at its {result.data?.failed.join(', ')}.</p>
      )}
      <ConfirmDelete
        open={chosen !== null}
        onClose={() => setChosen(null)}
        noun={chosen?.length === 1 ? 'this leftover?' : `${plural(chosen?.length ?? 0, 'leftover')}?`}
        verb="Remove"
        phrase={host.name}
        onConfirm={() => chosen !== null && removal.mutate(chosen)}
        busy={removal.isPending}
        error={removal.error}
        command={vcctl(['host', 'remove-leftovers', host.name, ...(chosen ?? []).map(nameOf)])}
      >
        Processes are ended and files are gone for good. What belongs to something by now is refused, and then nothing
        is removed.
        <ul className="mt-3 max-h-40 overflow-y-auto font-mono text-xs break-all" aria-label="To be removed">
          {chosen?.map((one) => (
            <li key={nameOf(one)}>{nameOf(one)}</li>
          ))}
        </ul>
      </ConfirmDelete>
    </Card>
  );
}

interface FoundProps {
  leftovers: readonly Leftover[];
  pending: boolean;
  onRemove: (one: Leftover) => void;
}

function Found({ leftovers, pending, onRemove }: FoundProps) {
  return (
    <Table label="Leftovers">
      <Head>
        <Th>Leftover</Th>
        <Th from="sm">Since</Th>
        <Th from="sm" className="text-right">
          Size
        </Th>
        <Th className="w-12">
          <span className="sr-only">Actions</span>
        </Th>
      </Head>
      <tbody>
        {pending && <SkeletonRows columns={4} rows={2} />}
        {leftovers.map((one) => (
          <Row key={nameOf(one)}>
            <Td className="max-w-56">
              <Cut text={one.kind} />
              <span className="block truncate font-mono text-xs text-dim" title={one.name}>
                {one.name}
              </span>
              {one.holds.length > 0 && (
                <span className="block truncate text-xs text-dim" title={one.holds.join(', ')}>
                  with {one.holds.join(', ')}
                </span>
              )}
            </Td>
            <Td from="sm" className="text-dim">
              {one.since === null ? '' : <Age at={one.since} suffix=" ago" />}
            </Td>
            <Td from="sm" className="text-right text-dim">
              {one.bytes === null ? '' : bytes(one.bytes)}
            </Td>
            <Td>
              <Button
                look="ghost"
                size="icon-sm"
                icon={Trash2}
                aria-label={`Remove ${nameOf(one)}`}
                hint="Remove…"
                onClick={() => onRemove(one)}
              />
            </Td>
          </Row>
        ))}
      </tbody>
    </Table>
  );
}
