import { Component, type ReactNode } from 'react';
import { Button } from '../../ui/button';

interface State {
  error: Error | null;
}

/** Keeps a page's fault to the page. After an upgrade of the server a chunk may be gone: then only a reload helps. */
export class ErrorBoundary extends Component<{ children: ReactNode }, State> {
  override state: State = { error: null };

  static getDerivedStateFromError(error: Error): State {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return (
      <div role="alert" className="mx-auto max-w-md px-6 py-20 text-center">
        <h1 className="text-base font-semibold">This page could not be shown</h1>
        <p className="mt-1 text-sm text-dim">{error.message}</p>
        <Button look="primary" className="mt-5" onClick={() => window.location.reload()}>
          Reload the console
        </Button>
      </div>
    );
  }
}
