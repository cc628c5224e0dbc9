import { QueryClient, QueryClientProvider, useQuery, useQueryClient } from '@tanstack/react-query';
import { Tooltip as T } from 'radix-ui';
import { lazy, Suspense, useEffect } from 'react';
import { BrowserRouter, Navigate, Route, Routes } from 'react-router';
import { LoginPage } from '../features/login/login-page';
import { OverviewPage } from '../features/overview/overview-page';
import { InstancesPage } from '../features/instances/instances-page';
import { api } from '../lib/api';
import { startLive } from '../lib/live';
import { ApiError, asApiError } from '../lib/problem';
import { logout, session } from '../lib/session';
import { useStore } from '../lib/store';
import type { Whoami } from '../lib/types';
import { Button } from '../ui/button';
import { ProblemNote } from '../ui/problem-note';
import { Toasts } from '../ui/toast';
import { NotFoundPage } from './not-found-page';
import { ScopeProvider, useScope } from './scope';
import { Shell } from './shell';

const CreateInstancePage = lazy(() => import('../features/instances/create-instance-page'));
const InstancePage = lazy(() => import('../features/instances/instance-page'));
const ConsolePage = lazy(() => import('../features/instances/console-page'));
const ImagesPage = lazy(() => import('../features/images/images-page'));
const NetworksPage = lazy(() => import('../features/networks/networks-page'));
const SshKeysPage = lazy(() => import('../features/ssh-keys/ssh-keys-page'));
const FlavorsPage = lazy(() => import('../features/flavors/flavors-page'));
const VolumesPage = lazy(() => import('../features/volumes/volumes-page'));
const HostsPage = lazy(() => import('../features/hosts/hosts-page'));
const HostPage = lazy(() => import('../features/hosts/host-page'));
const TasksPage = lazy(() => import('../features/tasks/tasks-page'));
const ProjectsPage = lazy(() => import('../features/projects/projects-page'));
const ProjectPage = lazy(() => import('../features/projects/project-page'));
const UsersPage = lazy(() => import('../features/users/users-page'));
const AccountPage = lazy(() => import('../features/account/account-page'));

/** Refusals are final; only an unreachable or failing server is worth another try. */
const worthRetry = (count: number, error: unknown): boolean => count < 2 && (!(error instanceof ApiError) || error.status === 0 || error.status >= 502);

const client = new QueryClient({
  defaultOptions: { queries: { retry: worthRetry, retryDelay: (n) => 500 * 2 ** n, staleTime: 2000 }, mutations: { retry: false } },
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
        <Route path="/login" element={<Navigate to="/" replace />} />
        <Route path="*" element={<NotFoundPage />} />
      </Route>
    </Routes>
  );
}

/** Loads who the user is, listens for events, then shows the pages. */
function SignedIn() {
  const queries = useQueryClient();
  const me = useQuery({ queryKey: ['whoami'], queryFn: ({ signal }) => api.get<Whoami>('/whoami', undefined, signal), staleTime: 60_000 });
  useEffect(() => startLive(queries), [queries]);
  if (me.data !== undefined)
    return (
      <ScopeProvider me={me.data}>
        <Suspense fallback={null}>
          <Pages />
        </Suspense>
      </ScopeProvider>
    );
  if (me.error === null) return <p className="sr-only">Loading</p>;
  return (
    <main className="mx-auto max-w-md px-5 py-24">
      <h1 className="mb-3 text-base font-semibold">The console cannot start</h1>
      <ProblemNote error={asApiError(me.error)} />
      <div className="mt-4 flex gap-2">
        <Button look="primary" onClick={() => void me.refetch()}>
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
    if (!signedIn) client.clear();
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
