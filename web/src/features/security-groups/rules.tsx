import { Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../lib/api';
import { useWrite } from '../../lib/queries';
import type { SecurityGroupRule, SecurityGroupWithRules } from '../../lib/types';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialogs/dialog';
import { FormProblem } from '../../ui/forms/form-problem';
import { Cut, Head, NameTd, Row, Table, Td, Th } from '../../ui/lists/table';
import { Card } from '../../ui/page';
import { Ref } from '../../ui/ref';
import { NewRule } from './new-rule';
import { portsOf, protocolOf } from './rule-text';

interface Props {
  group: SecurityGroupWithRules;
  direction: SecurityGroupRule['direction'];
  /** Why they cannot be changed; null when they can. */
  reason: string | null;
}

const titles = { ingress: 'May come in', egress: 'May go out' } as const;

/** What the ports of a group may hear, or say. */
export function Rules({ group, direction, reason }: Props) {
  const [adding, setAdding] = useState(false);
  const remove = useWrite((id: string) => api.delete('/security-group-rules/{id}', { path: { id } }), {
    touches: ['security-groups'],
  });
  const rules = group.rules.filter((rule) => rule.direction === direction);
  return (
    <Card
      title={titles[direction]}
      action={
        <Button size="sm" icon={Plus} reason={reason} onClick={() => setAdding(true)}>
          Add rule
        </Button>
      }
    >
      {rules.length === 0 ? (
        <p className="p-4 text-sm text-dim">Nothing.</p>
      ) : (
        <Table label={titles[direction]}>
          <Head>
            <Th>Protocol</Th>
            <Th>Ports</Th>
            <Th className="w-full">{direction === 'ingress' ? 'From' : 'To'}</Th>
            <Th>
              <span className="sr-only">Actions</span>
            </Th>
          </Head>
          <tbody>
            {rules.map((rule) => (
              <Row key={rule.id}>
                <Td>{protocolOf(rule)}</Td>
                <Td className="nums">{portsOf(rule)}</Td>
                <NameTd>
                  <OtherEnd rule={rule} />
                  {rule.description !== '' && <Cut text={rule.description} className="text-xs text-dim" />}
                </NameTd>
                <Td>
                  <Button
                    icon={Trash2}
                    look="ghost"
                    size="icon-sm"
                    reason={reason}
                    busy={remove.isPending}
                    aria-label={`Delete the rule for ${protocolOf(rule)} ${portsOf(rule)}`}
                    hint="Delete"
                    onClick={() => remove.mutate(rule.id)}
                  />
                </Td>
              </Row>
            ))}
          </tbody>
        </Table>
      )}
      <FormProblem error={remove.error} fields={[]} />
      <Dialog open={adding} onClose={() => setAdding(false)} title={direction === 'ingress' ? 'Let in' : 'Let out'}>
        <NewRule group={group} direction={direction} onClose={() => setAdding(false)} />
      </Dialog>
    </Card>
  );
}

function OtherEnd({ rule: { remoteCidr, remoteGroup } }: { rule: SecurityGroupRule }) {
  if (remoteGroup !== null)
    return (
      <span className="flex min-w-0 items-baseline gap-1">
        <span className="shrink-0">members of</span>
        <Ref to={`/security-groups/${remoteGroup.id}`}>{remoteGroup.name}</Ref>
      </span>
    );
  return remoteCidr === null ? <>anybody</> : <span className="font-mono text-xs">{remoteCidr}</span>;
}
