import { useEffect, useState, type FormEvent } from 'react';
import { asApiError, type ApiError } from '../../lib/problem';
import { endedReason, login } from '../../lib/session';
import { useStore } from '../../lib/store';
import { Button } from '../../ui/button';
import { TextField } from '../../ui/forms/field';
import { ProblemNote } from '../../ui/feedback/problem-note';

/** Shown at any address while nobody is signed in; afterwards the address asked for opens. */
export function LoginPage() {
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const ended = useStore(endedReason);
  useEffect(() => {
    document.title = 'Sign in · VC Stack';
  }, []);

  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setError(null);
    try {
      await login(name.trim(), password);
    } catch (reason) {
      setError(asApiError(reason));
      setBusy(false);
    }
  };

  return (
    <main className="grid min-h-dvh place-items-center bg-side px-4 py-10">
      <div className="w-full max-w-sm">
        <Heading />
        <form
          onSubmit={(event) => void submit(event)}
          className="space-y-4 rounded-xl border border-line bg-raised p-5 shadow-lift"
          noValidate
        >
          {ended !== '' && error === null && (
            <p role="status" className="rounded-lg bg-warn-soft px-3 py-2 text-sm text-warn">
              {ended}
            </p>
          )}
          {error !== null && <ProblemNote error={error} />}
          <TextField
            label="Name"
            name="username"
            autoComplete="username"
            autoCapitalize="none"
            spellCheck={false}
            autoFocus
            required
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
          <TextField
            label="Password"
            name="password"
            type="password"
            autoComplete="current-password"
            required
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
          <Button
            type="submit"
            look="primary"
            busy={busy}
            reason={name.trim() === '' || password === '' ? 'Enter your name and password.' : null}
            className="w-full"
          >
            Sign in
          </Button>
        </form>
      </div>
    </main>
  );
}

/** The mark, and which server it is. */
function Heading() {
  return (
    <div className="mb-6 text-center">
      <svg aria-hidden viewBox="0 0 32 32" className="mx-auto size-11">
        <rect width="32" height="32" rx="7" className="fill-accent" />
        <path
          d="M16 6.500 25 11l-9 4.500L7 11zM7 16l9 4.500L25 16M7 21l9 4.500L25 21"
          fill="none"
          stroke="#fff"
          strokeWidth="2.4"
          strokeLinejoin="round"
          strokeLinecap="round"
        />
      </svg>
      <h1 className="mt-4 text-xl font-semibold tracking-tight">Sign in to VC Stack</h1>
      <p className="mt-1 text-sm break-all text-dim">{window.location.host}</p>
    </div>
  );
}
