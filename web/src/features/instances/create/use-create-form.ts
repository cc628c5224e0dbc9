import { useState, type FormEvent } from 'react';
import { useNavigate, useSearchParams } from 'react-router';
import { useScope } from '../../../app/scope';
import { api } from '../../../lib/api';
import { fieldErrors } from '../../../lib/problem';
import { useList, useWrite } from '../../../lib/queries';
import type { CreateInstance } from '../../../lib/types';
import { followTask } from '../../tasks/open-task';
import { bodyOf, choicesOf, problemsOf } from './create-form';
import { draftOf, emptyDraft, keepDraft, type Draft } from './drafts';
import { useCreateCheck } from './use-create-check';

/** The project that it goes to: the chosen one, or one that the form asks for. */
const useTargetProject = () => {
  const scope = useScope();
  const [picked, pick] = useState(scope.project?.id ?? scope.projects.find((p) => p.role !== 'viewer')?.id ?? '');
  const project = scope.project?.id ?? picked;
  return { picked, pick, project, query: project === '' ? {} : { project } };
};

const useOffers = (query: { project?: string }) => {
  const { admin } = useScope();
  const all = { query: { ...query, limit: 500 } };
  return {
    flavors: useList('/flavors', { query: { limit: 500 } }),
    images: useList('/images', all),
    networks: useList('/networks', all),
    keys: useList('/ssh-keys', all),
    hosts: useList('/hosts', { query: { limit: 500 }, enabled: admin }),
    shares: useList('/shares', { ...all, enabled: query.project !== undefined }),
  };
};

/** Asks for what the draft means, and goes to where it shows. */
const useCreate = (draft: Draft, copies: number, query: { project?: string }) => {
  const navigate = useNavigate();
  return useWrite(
    async (body: CreateInstance): Promise<{ path: string; taskId: string }> => {
      if (copies > 1)
        return {
          path: '/instances',
          ...(await api.post('/instances/batch', { body: { ...body, count: copies }, query })),
        };
      const { instance, taskId } = await api.post('/instances', { body, query });
      return { path: `/instances/${instance.id}`, taskId };
    },
    {
      touches: ['instances', 'tasks', 'networks', 'volumes'],
      onDone: ({ path, taskId }) => {
        keepDraft(taskId, draft);
        void navigate(path);
        followTask(taskId);
      },
    },
  );
};

/** The state of the form: what is filled in, what that means, what is wrong with it, and what the server says of it. */
export const useCreateForm = () => {
  const [params] = useSearchParams();
  const target = useTargetProject();
  const lists = useOffers(target.query);
  // After a task that failed the form comes back as it was filled in.
  const [draft, setDraft] = useState(() => draftOf(params.get('again')) ?? emptyDraft);
  const [tried, setTried] = useState(false);
  const offers = {
    flavors: lists.flavors.items,
    images: lists.images.items,
    networks: lists.networks.items,
    keys: lists.keys.items,
    hosts: lists.hosts.items,
    shares: lists.shares.items,
  };
  const choices = choicesOf(draft, offers);
  const problems = problemsOf(draft, choices);
  const body = bodyOf(draft, choices, offers);
  const create = useCreate({ ...draft, wayOut: choices.wayOut }, choices.copies, target.query);
  const check = useCreateCheck(body, choices.several ? choices.copies : 1, target.query);
  // A refusal stands until something is changed; then counts what the server says of the form as it is.
  const refusal = JSON.stringify(create.variables) === JSON.stringify(body) ? create.error : null;
  const problem = refusal ?? check.error;
  const refused = fieldErrors(problem);
  // What is wrong with an address is said at the address, not at the networks.
  const refusedNetworks =
    problem?.errors.flatMap((e) => /^body\.networks\.(\d+)\.address$/.exec(e.path)?.[1] ?? []) ?? [];
  const show = (field: string): string | null => (tried ? problems[field] : null) ?? refused[field] ?? null;
  return {
    target,
    lists,
    offers,
    draft,
    change: (part: Partial<Draft>): void => setDraft((old) => ({ ...old, ...part })),
    choices,
    body,
    check,
    refusal,
    busy: create.isPending,
    /** What is wrong with a member, once it is time to say so. */
    show,
    networksError: refusedNetworks.length > 0 ? ((tried ? problems['networks'] : null) ?? null) : show('networks'),
    addressError: (id: string): string | null =>
      refusedNetworks.includes(String(choices.attached.findIndex((a) => a.id === id)))
        ? (refused['networks'] ?? null)
        : null,
    submit: (event: FormEvent): void => {
      event.preventDefault();
      setTried(true);
      if (create.isPending || body === null) return;
      create.mutate(body);
    },
  };
};

export type CreateForm = ReturnType<typeof useCreateForm>;
