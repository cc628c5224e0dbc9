import { useEffect } from 'react';
import { Link, useParams } from 'react-router';
import { asApiError } from '../../lib/problem';
import { useOne } from '../../lib/queries';
import { ProblemNote } from '../../ui/feedback/problem-note';
import InstanceConsole from './instance-console';

/** A serial console or a screen as a browser tab of its own. */
export default function ConsolePage() {
  const { id = '' } = useParams();
  const result = useOne('/instances/{ref}', id);
  const name = result.data?.name;
  useEffect(() => {
    if (name !== undefined) document.title = `${name} · console`;
  }, [name]);
  if (result.data !== undefined)
    return (
      <main>
        <h1 className="sr-only">Console of {result.data.name}</h1>
        <InstanceConsole instance={result.data} full />
      </main>
    );
  return (
    <main className="mx-auto max-w-md px-5 py-24">
      {result.error !== null && (
        <>
          <ProblemNote error={asApiError(result.error)} />
          <Link to="/instances" className="mt-4 inline-block text-sm text-accent-text hover:underline">
            All instances
          </Link>
        </>
      )}
    </main>
  );
}
