import { dateTime } from '../../lib/format';
import type { List } from '../../lib/queries';
import type { ApiToken } from '../../lib/types';
import { DeleteButton } from '../../ui/dialogs/delete-button';
import { PlainList } from '../../ui/lists/plain-list';
import { Cut, Head, NameTd, Row, SkeletonRows, Table, Td, Th } from '../../ui/lists/table';
import { Age } from '../../ui/time';

/** API tokens of one user, whoever looks at them. */
export function ApiTokenTable({
  list,
  empty,
  onDelete,
}: {
  list: List<ApiToken>;
  empty: string;
  onDelete: (token: ApiToken) => void;
}) {
  return (
    <PlainList list={list} empty={empty}>
      <Table label="API tokens">
        <Head>
          <Th>Name</Th>
          <Th from="sm">Scope</Th>
          <Th>Expires</Th>
          <Th from="sm">Last used</Th>
          <Th className="w-12">
            <span className="sr-only">Actions</span>
          </Th>
        </Head>
        <tbody>
          {list.isPending && <SkeletonRows columns={5} rows={2} />}
          {list.items.map((t) => (
            <Row key={t.id}>
              <NameTd>
                <Cut text={t.name} className="font-medium" />
              </NameTd>
              <Td from="sm" className="max-w-36 text-dim">
                <Cut text={t.scopes === null ? 'all of the user' : t.scopes.join(', ')} />
              </Td>
              <Td className="text-dim">
                {t.expiresAt === null ? (
                  'never'
                ) : (
                  <span title={dateTime(t.expiresAt)}>{new Date(t.expiresAt).toLocaleDateString()}</span>
                )}
              </Td>
              <Td from="sm" className="text-dim">
                {t.lastUsedAt === null ? 'never' : <Age at={t.lastUsedAt} suffix=" ago" />}
              </Td>
              <Td className="w-12 py-0 text-right">
                <DeleteButton name={t.name} reason={null} onClick={() => onDelete(t)} />
              </Td>
            </Row>
          ))}
        </tbody>
      </Table>
    </PlainList>
  );
}
