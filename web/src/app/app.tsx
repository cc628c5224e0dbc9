import { QueryClient, QueryClientProvider, useQuery, useQueryClient } from '@tanstack/react-query';
import { Tooltip as T } from 'radix-ui';
import { useEffect } from 'react';
import { BrowserRouter, Navigate, Route, Routes } from 'react-router';
import { LoginPage } from '../features/login/login-page';
import { api } from '../lib/api';
import { startLive } from '../lib/live';
import { ApiError, asApiError } from '../lib/problem';
import { reachability } from '../lib/reachability';
import { logout, session } from '../lib/session';
import { useStore } from '../lib/store';
import { Button } from '../ui/button';
import { prefetchParts } from '../ui/lazy-part';
import { ProblemNote } from '../ui/feedback/problem-note';
import { Toasts } from '../ui/feedback/toast';
import type { Features } from './features';
import { NotFoundPage } from './shell/not-found-page';
import { ScopeProvider, useScope } from './scope';
import { Shell } from './shell/shell';
import { FeaturesContext, useFeatures } from './use-features';

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
  const routes = useFeatures()
    .all.flatMap((feature) => feature.routes ?? [])
    .filter((route) => admin || route.adminOnly !== true);
  const shown = (bare: boolean) =>
    routes
      .filter((route) => (route.bare === true) === bare)
      .map(({ path, page: Page }) => <Route key={path} path={path} element={<Page />} />);
  return (
    <Routes>
      {shown(true)}
      <Route element={<Shell />}>
        {shown(false)}
        <Route path="/login" element={<Navigate to="/" replace />} />
        <Route path="*" element={<NotFoundPage />} />
      </Route>
    </Routes>
  );
}

/** Loads who the user is, listens for events, then shows the pages. */
function SignedIn() {
  const queries = useQueryClient();
  const { live } = useFeatures();
  const me = useQuery({
    queryKey: ['whoami'],
    queryFn: ({ signal }) => api.get('/whoami', { signal }),
    staleTime: 60_000,
  });
  // Asked before any list, so that events from here on make the lists complete.
  const start = useQuery({
    queryKey: ['events', 'position'],
    queryFn: ({ signal }) => api.get('/events/position', { signal }),
    staleTime: Infinity,
  });
  const position = start.data?.seq;
  useEffect(() => (position === undefined ? undefined : startLive(queries, position, live)), [queries, position, live]);
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
export function App({ features }: { features: Features }) {
  const signedIn = useStore(session) !== null;
  useEffect(() => {
    // Nothing of one user may show to the next.
    if (signedIn) return;
    client.clear();
    for (const feature of features.all) feature.forget?.();
  }, [signedIn, features]);
  return (
    <QueryClientProvider client={client}>
      <T.Provider delayDuration={250}>
        <BrowserRouter basename="/console">
          <FeaturesContext value={features}>{signedIn ? <SignedIn /> : <LoginPage />}</FeaturesContext>
          <Toasts />
        </BrowserRouter>
      </T.Provider>
    </QueryClientProvider>
  );
}
