import { Pencil, Trash2, UserPlus } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import { Link, useParams } from 'react-router';
import { EditDialog } from '../../app/edit-dialog';
import { useScope } from '../../app/scope';
import { useVisited } from '../../app/palette/use-visited';
import { api } from '../../lib/api';
import { asApiError, fieldErrors } from '../../lib/problem';
import { useList, useOne, useWrite } from '../../lib/queries';
import type { Member, ProjectRole } from '../../lib/types';
import { checkDescription, checkName } from '../../lib/validate';
import { Button } from '../../ui/button';
import { SelectField, TextField, controlClass } from '../../ui/forms/field';
import { Card, Facts, Page } from '../../ui/page';
import { PlainList } from '../../ui/lists/plain-list';
import { FormProblem } from '../../ui/forms/form-problem';
import { ProblemNote } from '../../ui/feedback/problem-note';
import { Copyable } from '../../ui/copy';
import { NameTd, Cut, Head, Row, SkeletonRows, Table, Td, Th } from '../../ui/lists/table';
import { toast } from '../../ui/feedback/toast';
import { dateTime, words } from '../../lib/format';

const roles: readonly (readonly [role: ProjectRole, name: string, may: string])[] = [
  ['viewer', 'Viewer', 'looks'],
  ['member', 'Member', 'creates and changes'],
  ['project-admin', 'Project admin', 'also manages members'],
];
const isRole = (value: string): value is ProjectRole => roles.some(([role]) => role === value);

export default function ProjectPage() {
  const { id = '' } = useParams();
  const { admin, projects } = useScope();
  const result = useOne('/projects/{ref}', id, { listed: true });
  const project = result.data;
  useVisited('project', `/projects/${id}`, project?.name);
  const [editing, setEditing] = useState(false);
  const role = projects.find((p) => p.id === id)?.role;
  const reason =
    admin || role === 'project-admin' || role === 'admin' ? null : 'Only a project admin may manage members.';
  const edit = (
    <Button
      icon={Pencil}
      reason={reason === null ? null : 'Only a project admin may.'}
      onClick={() => setEditing(true)}
    >
      Edit
    </Button>
  );
  return (
    <Page
      title={project?.name ?? 'Project'}
      parent={{ to: '/projects', label: 'Projects' }}
      {...(project === undefined || project.description === '' ? {} : { description: project.description })}
      {...(project === undefined ? {} : { actions: edit })}
    >
      {result.error !== null && project === undefined ? (
        <ProblemNote error={asApiError(result.error)} />
      ) : (
        <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-[minmax(0,1fr)_20rem]">
          <Members projectId={id} reason={reason} />
          <Card title="Facts">
            {project !== undefined && (
              <Facts
                items={[
                  ['Created', dateTime(project.createdAt)],
                  ['Your role', role === undefined ? '–' : words(role)],
                  ['Id', <Copyable key="id" text={project.id} label="Copy id" />],
                ]}
              />
            )}
          </Card>
        </div>
      )}
      <EditDialog
        noun="project"
        path="/projects/{ref}"
        item={editing && project !== undefined ? project : null}
        onClose={() => setEditing(false)}
        touches={['whoami']}
        fields={[
          { key: 'name', label: 'Name', value: project?.name ?? '', check: checkName },
          {
            key: 'description',
            label: 'Description',
            value: project?.description ?? '',
            optional: true,
            check: checkDescription,
          },
        ]}
      />
    </Page>
  );
}

function Members({ projectId, reason }: { projectId: string; reason: string | null }) {
  const collection = `projects/${projectId}/members`;
  const list = useList('/projects/{ref}/members', { path: { ref: projectId } });
  const set = useWrite(
    (m: { user: string; role: ProjectRole }) =>
      api.put('/projects/{ref}/members/{userId}', {
        path: { ref: projectId, userId: m.user },
        body: { role: m.role },
      }),
    {
      touches: [collection],
      onDone: (m) => toast.ok(`${m.userName} is ${words(m.role).toLowerCase()}`),
      onError: (error) => toast.bad('The role was not changed', error),
    },
  );
  const remove = useWrite(
    (m: Member) => api.delete('/projects/{ref}/members/{userId}', { path: { ref: projectId, userId: m.userId } }),
    {
      touches: [collection, 'whoami'],
      onDone: (_, m) => toast.ok(`${m.userName} removed`),
      onError: (error) => toast.bad('Not removed', error),
    },
  );
  return (
    <Card title="Members">
      <PlainList list={list} empty="No members yet. Administrators see every project without being members.">
        <Table label="Members">
          <Head>
            <Th>User</Th>
            <Th>Role</Th>
            <Th className="w-12">
              <span className="sr-only">Actions</span>
            </Th>
          </Head>
          <tbody>
            {list.isPending && <SkeletonRows columns={3} rows={3} />}
            {list.items.map((m) => (
              <MemberRow
                key={m.userId}
                member={m}
                reason={reason}
                onRole={(role) => set.mutate({ user: m.userId, role })}
                onRemove={() => remove.mutate(m)}
              />
            ))}
          </tbody>
        </Table>
      </PlainList>
      {reason === null && <AddMember projectId={projectId} present={list.items} />}
    </Card>
  );
}

interface MemberRowProps {
  member: Member;
  /** Why nothing can be changed, or null. */
  reason: string | null;
  onRole: (role: ProjectRole) => void;
  onRemove: () => void;
}

function MemberRow({ member: m, reason, onRole, onRemove }: MemberRowProps) {
  const { admin } = useScope();
  return (
    <Row>
      <NameTd>
        {admin ? (
          <Link
            to={`/users/${m.userId}`}
            title={m.userName}
            className="block truncate rounded font-medium hover:underline"
          >
            {m.userName}
          </Link>
        ) : (
          <Cut text={m.userName} className="font-medium" />
        )}
      </NameTd>
      <Td>
        {reason === null ? (
          <select
            aria-label={`Role of ${m.userName}`}
            value={m.role}
            onChange={(e) => isRole(e.target.value) && onRole(e.target.value)}
            title={roles.find(([role]) => role === m.role)?.[2]}
            className={`${controlClass} h-8 w-42 pr-7`}
          >
            {roles.map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        ) : (
          <span className="text-dim">{words(m.role)}</span>
        )}
      </Td>
      <Td className="w-12 py-0 text-right">
        <Button
          look="ghost"
          size="icon-sm"
          icon={Trash2}
          aria-label={`Remove ${m.userName}`}
          hint="Remove from the project"
          reason={reason}
          onClick={onRemove}
        />
      </Td>
    </Row>
  );
}

function AddMember({ projectId, present }: { projectId: string; present: Member[] }) {
  const { admin } = useScope();
  const users = useList('/users', { query: { limit: 500 }, enabled: admin });
  const [name, setName] = useState('');
  const [role, setRole] = useState<ProjectRole>('member');
  const add = useWrite(
    (m: { user: string; role: ProjectRole }) =>
      api.put('/projects/{ref}/members/{userId}', {
        path: { ref: projectId, userId: m.user },
        body: { role: m.role },
      }),
    {
      touches: [`projects/${projectId}/members`, 'whoami'],
      onDone: (m) => {
        toast.ok(`${m.userName} added`);
        setName('');
      },
    },
  );
  const refused = fieldErrors(add.error);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!add.isPending && name.trim() !== '') add.mutate({ user: name.trim(), role });
  };
  return (
    <form onSubmit={submit} className="border-t border-line p-4">
      <div className="flex flex-wrap items-end gap-3">
        <TextField
          label="User"
          list="known-users"
          value={name}
          onChange={(e) => setName(e.target.value)}
          error={refused.userId}
          placeholder="name"
          className="min-w-32 flex-1"
        />
        <datalist id="known-users">
          {users.items
            .filter((u) => !present.some((m) => m.userId === u.id))
            .map((u) => (
              <option key={u.id} value={u.name} />
            ))}
        </datalist>
        <SelectField
          label="Role"
          value={role}
          onChange={(e) => isRole(e.target.value) && setRole(e.target.value)}
          className="min-w-40"
        >
          {roles.map(([value, name, may]) => (
            <option key={value} value={value}>
              {`${name}: ${may}`}
            </option>
          ))}
        </SelectField>
        <Button
          type="submit"
          icon={UserPlus}
          busy={add.isPending}
          reason={name.trim() === '' ? 'Enter a user name.' : null}
          className="mb-px"
        >
          Add member
        </Button>
      </div>
      <FormProblem error={add.error} fields={['userId']} className="mt-3" />
    </form>
  );
}
