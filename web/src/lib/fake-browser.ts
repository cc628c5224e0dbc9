import type * as ApiModule from './api';
import { FakeServer } from './fake-server';
import type * as ReachabilityModule from './reachability';
import type * as SessionModule from './session';

/** One tab of the browser: its modules, with their own state. */
export interface Tab {
  session: typeof SessionModule;
  api: (typeof ApiModule)['api'];
  reachability: (typeof ReachabilityModule)['reachability'];
}

/** What a page finds in a browser, as far as sessions use it. Storage is each tab's own. */
export class FakeBrowser {
  readonly server = new FakeServer();
  private readonly channels: { close: () => void }[] = [];
  private readonly before = new Map<string, PropertyDescriptor | undefined>();

  constructor() {
    const channels = this.channels;
    this.put('window', globalThis);
    this.put('fetch', this.server.fetch);
    this.put(
      'BroadcastChannel',
      class extends BroadcastChannel {
        constructor(name: string) {
          super(name);
          channels.push(this);
        }
      },
    );
    let queue: Promise<unknown> = Promise.resolve();
    const request = (_name: string, work: () => Promise<void>): Promise<void> => {
      const next = queue.then(work);
      queue = next.catch(() => undefined);
      return next;
    };
    this.put('navigator', { locks: { request } });
  }

  /** Opens a tab, with what it kept from before it was loaded. */
  async tab(kept = new Map<string, string>()): Promise<Tab> {
    this.put('sessionStorage', {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
      removeItem: (key: string) => void kept.delete(key),
    });
    let tab: Tab | undefined;
    await jest.isolateModulesAsync(async () => {
      tab = {
        session: await import('./session'),
        api: (await import('./api')).api,
        reachability: (await import('./reachability')).reachability,
      };
    });
    if (tab === undefined) throw new Error('no modules');
    return tab;
  }

  close(): void {
    for (const channel of this.channels) channel.close();
    for (const [name, descriptor] of this.before)
      if (descriptor === undefined) Reflect.deleteProperty(globalThis, name);
      else Object.defineProperty(globalThis, name, descriptor);
  }

  private put(name: string, value: unknown): void {
    if (!this.before.has(name)) this.before.set(name, Object.getOwnPropertyDescriptor(globalThis, name));
    Object.defineProperty(globalThis, name, { configurable: true, writable: true, value });
  }
}
