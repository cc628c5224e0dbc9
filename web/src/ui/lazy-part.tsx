import { CloudOff, RotateCw } from 'lucide-react';
import { useEffect, type ComponentType, type ReactNode } from 'react';
import { Chunk } from '../lib/chunk';
import { useStore } from '../lib/store';
import { Button } from './button';

const parts: { prefetch: () => Promise<void> }[] = [];

/**
 * A component whose code is a chunk of its own. While it comes `fallback` shows; a failure is explained in its place,
 * and what can be done about it.
 */
export const lazyPart = <P extends object>(
  load: () => Promise<{ default: ComponentType<P> }>,
  fallback: ReactNode = <div className="min-h-60" />,
): ComponentType<P> => {
  const chunk = new Chunk(load);
  parts.push(chunk);
  return function LazyPart(props: P) {
    const state = useStore(chunk.state);
    useEffect(() => void chunk.load(), []);
    if (state.kind === 'ready') {
      const { default: Part } = state.value;
      return <Part {...props} />;
    }
    if (state.kind === 'offline')
      return (
        <Missing
          icon={CloudOff}
          title="This part of the console is not loaded yet"
          text="The server does not answer. It loads as soon as the server does."
        />
      );
    if (state.kind === 'lost')
      return (
        <Missing
          icon={RotateCw}
          title={state.updated ? 'The console was updated' : 'This part of the console could not be loaded'}
          text={
            state.updated
              ? 'The server has a newer version than this tab, and the old one is gone. Reload to go on.'
              : 'The server answers, but did not give it.'
          }
        >
          <Button look={state.updated ? 'primary' : 'secondary'} onClick={() => window.location.reload()}>
            Reload the console
          </Button>
          {!state.updated && (
            <Button look="primary" onClick={() => void chunk.load()}>
              Try again
            </Button>
          )}
        </Missing>
      );
    return fallback;
  };
};

function Missing({
  icon: Icon,
  title,
  text,
  children,
}: {
  icon: typeof CloudOff;
  title: string;
  text: string;
  children?: ReactNode;
}) {
  return (
    <div role="alert" className="mx-auto flex max-w-md flex-col items-center px-6 py-20 text-center">
      <Icon aria-hidden className="mb-3 size-6 text-dim" />
      <h1 className="text-base font-semibold">{title}</h1>
      <p className="mt-1 text-sm text-dim">{text}</p>
      {children !== undefined && <div className="mt-5 flex gap-2">{children}</div>}
    </div>
  );
}

/**
 * Loads all parts one after the other when the browser has nothing else to do, so that they are there when the network
 * is not.
 */
export const prefetchParts = (): void => {
  const idle = (run: () => void): void =>
    void (typeof requestIdleCallback === 'undefined'
      ? window.setTimeout(run, 500)
      : requestIdleCallback(run, { timeout: 5000 }));
  const next = (n: number): void => {
    const chunk = parts[n];
    if (chunk !== undefined) idle(() => void chunk.prefetch().then(() => next(n + 1)));
  };
  next(0);
};
