import { QueryClient, QueryClientProvider, useQuery, useQueryClient } from '@tanstack/react-query';
import { Tooltip as T } from 'radix-ui';
import { useEffect, type ComponentType } from 'react';
import { BrowserRouter, Navigate, Route, Routes } from 'react-router';
import { forgetDrafts } from '../features/instances/drafts';
import { LoginPage } from '../features/login/login-page';
import { OverviewPage } from '../features/overview/overview-page';
import { InstancesPage } from '../features/instances/instances-page';
import { api } from '../lib/api';
import { startLive } from '../lib/live';
import { ApiError, asApiError } from '../lib/problem';
import { reachability } from '../lib/reachability';
import { logout, session } from '../lib/session';
import { useStore } from '../lib/store';
import type { Whoami } from '../lib/types';
import { Button } from '../ui/button';
import { lazyPart, prefetchParts } from '../ui/lazy-part';
import { ProblemNote } from '../ui/problem-note';
import { Toasts } from '../ui/toast';
import { NotFoundPage } from './not-found-page';
import { ScopeProvider, useScope } from './scope';
import { Shell } from './shell';

/** Every page but the first ones, in one chunk: they are small, and each request costs a round trip. */
const page = (name: keyof typeof import('./pages')) =>
  lazyPart<object>(() => import('./pages').then((pages) => ({ default: pages[name] as ComponentType })));
const CreateInstancePage = page('CreateInstancePage');
const InstancePage = page('InstancePage');
const ConsolePage = page('ConsolePage');
const ImagesPage = page('ImagesPage');
const NetworksPage = page('NetworksPage');
const NetworkPage = page('NetworkPage');
const SshKeysPage = page('SshKeysPage');
const FlavorsPage = page('FlavorsPage');
const VolumesPage = page('VolumesPage');
const HostsPage = page('HostsPage');
const HostPage = page('HostPage');
const TasksPage = page('TasksPage');
const ProjectsPage = page('ProjectsPage');
const ProjectPage = page('ProjectPage');
const UserPage = page('UserPage');
const UsersPage = page('UsersPage');
const AccountPage = page('AccountPage');

/** Refusals are final; only an unreachable or failing server is worth another try. */
const worthRetry = (count: number, error: unknown): boolean =>
  count < 2 &&
  reachability.state.get().up &&
  (!(error instanceof ApiError) || error.status === 0 || error.status >= 502);

const client = new QueryClient({
  // Nothing waits for the browser to call itself online: reading fails with its reason, and a change that is not sent
  // at once is refused.
  defaultOptions: {
    queries: {
      networkMode: 'always',
      refetchOnReconnect: false,
      retry: worthRetry,
      retryDelay: (n) => 500 * 2 ** n,
      staleTime: 2000,
    },
    mutations: { networkMode: 'always', retry: false },
  },
});

function Pages() {
  const { admin } = useScope();
  return (
    <Routes>
      <Route path="/instances/:id/console" element={<ConsolePage />} />
      <Route element={<Shell />}>
        <Route index element={<OverviewPage />} />
        <Route path="/instances" element={<InstancesPage />} />
        <Route path="/instances/new" element={<CreateInstancePage />} />
        <Route path="/instances/:id" element={<InstancePage />} />
        <Route path="/images" element={<ImagesPage />} />
        <Route path="/networks" element={<NetworksPage />} />
        <Route path="/networks/:id" element={<NetworkPage />} />
        <Route path="/ssh-keys" element={<SshKeysPage />} />
        <Route path="/flavors" element={<FlavorsPage />} />
        <Route path="/volumes" element={<VolumesPage />} />
        <Route path="/tasks/:id?" element={<TasksPage />} />
        <Route path="/projects" element={<ProjectsPage />} />
        <Route path="/projects/:id" element={<ProjectPage />} />
        <Route path="/account" element={<AccountPage />} />
        {admin && <Route path="/hosts" element={<HostsPage />} />}
        {admin && <Route path="/hosts/:id" element={<HostPage />} />}
        {admin && <Route path="/users" element={<UsersPage />} />}
        {admin && <Route path="/users/:id" element={<UserPage />} />}
        <Route path="/login" element={<Navigate to="/" replace />} />
        <Route path="*" element={<NotFoundPage />} />
      </Route>
    </Routes>
  );
}

/** Loads who the user is, listens for events, then shows the pages. */
function SignedIn() {
  const queries = useQueryClient();
  const me = useQuery({
    queryKey: ['whoami'],
    queryFn: ({ signal }) => api.get<Whoami>('/whoami', undefined, signal),
    staleTime: 60_000,
  });
  // Asked before any list, so that events from here on make the lists complete.
  const start = useQuery({
    queryKey: ['events', 'position'],
    queryFn: ({ signal }) => api.get<{ seq: number }>('/events/position', undefined, signal),
    staleTime: Infinity,
  });
  const position = start.data?.seq;
  useEffect(() => (position === undefined ? undefined : startLive(queries, position)), [queries, position]);
  const ready = me.data !== undefined && position !== undefined;
  useEffect(() => {
    if (ready) prefetchParts();
  }, [ready]);
  const failed = me.error ?? start.error;
  if (me.data !== undefined && position !== undefined)
    return (
      <ScopeProvider me={me.data}>
        <Pages />
      </ScopeProvider>
    );
  if (failed === null) return <p className="sr-only">Loading</p>;
  return (
    <main className="mx-auto max-w-md px-5 py-24">
      <h1 className="mb-3 text-base font-semibold">The console cannot start</h1>
      <ProblemNote error={asApiError(failed)} />
      <div className="mt-4 flex gap-2">
        <Button look="primary" onClick={() => void Promise.all([me.refetch(), start.refetch()])}>
          Try again
        </Button>
        <Button onClick={() => void logout()}>Sign out</Button>
      </div>
    </main>
  );
}

/** The whole console. */
export function App() {
  const signedIn = useStore(session) !== null;
  useEffect(() => {
    // Nothing of one user may show to the next.
    if (signedIn) return;
    client.clear();
    forgetDrafts();
  }, [signedIn]);
  return (
    <QueryClientProvider client={client}>
      <T.Provider delayDuration={250}>
        <BrowserRouter basename="/console">
          {signedIn ? <SignedIn /> : <LoginPage />}
          <Toasts />
        </BrowserRouter>
      </T.Provider>
    </QueryClientProvider>
  );
}
