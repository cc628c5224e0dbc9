import { X } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../lib/api';
import { useList, useWrite } from '../../lib/queries';
import type { Router } from '../../lib/types';
import { Button } from '../../ui/button';
import { SelectField } from '../../ui/forms/field';
import { FormProblem } from '../../ui/forms/form-problem';
import { Head, NameTd, Row, Table, Td, Th } from '../../ui/lists/table';
import { Card } from '../../ui/page';
import { Ref } from '../../ui/ref';

const touches = ['routers', 'networks', 'subnets'] as const;

/** What a router joins, and what it could join too. `reason`: why it cannot be changed; null when it can. */
export function RouterSubnets({ router, reason }: { router: Router; reason: string | null }) {
  const [chosen, setChosen] = useState('');
  const free = useList('/subnets', { query: { project: router.projectId } });
  const add = useWrite(
    (subnet: string) => api.put('/routers/{ref}/subnets/{subnet}', { path: { ref: router.id, subnet } }),
    { touches: [...touches], onDone: () => setChosen('') },
  );
  const remove = useWrite(
    (subnet: string) => api.delete('/routers/{ref}/subnets/{subnet}', { path: { ref: router.id, subnet } }),
    { touches: [...touches] },
  );
  const choices = free.items.filter((subnet) => subnet.router === null);
  return (
    <Card title="Subnets">
      {router.subnets.length === 0 ? (
        <p className="p-4 text-sm text-dim">None yet: put at least one on it.</p>
      ) : (
        <Table label="Subnets">
          <Head>
            <Th className="w-full">Name</Th>
            <Th>Addresses</Th>
            <Th>Network</Th>
            <Th>
              <span className="sr-only">Actions</span>
            </Th>
          </Head>
          <tbody>
            {router.subnets.map((s) => (
              <Row key={s.id}>
                <NameTd>{s.name}</NameTd>
                <Td className="font-mono text-xs">{s.cidr}</Td>
                <Td>
                  <Ref to={`/networks/${s.networkId}`}>{s.network}</Ref>
                </Td>
                <Td>
                  <Button
                    icon={X}
                    look="ghost"
                    size="icon-sm"
                    reason={reason}
                    aria-label={`Take ${s.name} off`}
                    hint="Take off this router"
                    onClick={() => remove.mutate(s.id)}
                  />
                </Td>
              </Row>
            ))}
          </tbody>
        </Table>
      )}
      <form
        className="flex flex-wrap items-end gap-3 border-t border-line p-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (chosen !== '') add.mutate(chosen);
        }}
      >
        <SelectField label="Subnet" value={chosen} onChange={(event) => setChosen(event.target.value)}>
          <option value="">{choices.length === 0 ? 'no subnet without a router' : 'Choose…'}</option>
          {choices.map((s) => (
            <option key={s.id} value={s.id}>
              {s.name} ({s.cidr}) of {s.network}
            </option>
          ))}
        </SelectField>
        <Button type="submit" reason={reason} busy={add.isPending}>
          Put on router
        </Button>
        <FormProblem error={add.error ?? remove.error} fields={[]} />
      </form>
    </Card>
  );
}
