import { browserClock, type Clock } from './clock';
import { reachability, type Reach } from './reachability';
import { Store } from './store';

/**
 * `lost`: it is not there; `updated`: and the server has another console by now. It goes on by itself when the server
 * answers again.
 */
export type ChunkState<T> =
  | { kind: 'none' }
  | { kind: 'loading' }
  | { kind: 'ready'; value: T }
  | { kind: 'offline' }
  | { kind: 'lost'; updated: boolean };

interface Surroundings {
  clock: Clock;
  reach: { state: Store<Reach>; suspect: () => void };
  /** Whether the server's console is still the one that runs here. */
  isCurrent: () => Promise<boolean>;
}

/** Waits between tries while the server answers. Milliseconds. */
const waits = [500, 2000];

const isCurrent = async (): Promise<boolean> => {
  const own = document.querySelector<HTMLScriptElement>('script[type=module][src]')?.getAttribute('src') ?? '';
  const page = await fetch('/console/', { cache: 'no-store' });
  return !page.ok || (await page.text()).includes(own);
};

/**
 * Code that is loaded when it is needed, or before, when the browser is idle. It may fail to come: offline, or because
 * an upgrade took it away.
 */
export class Chunk<T> {
  readonly state = new Store<ChunkState<T>>({ kind: 'none' });

  constructor(
    private readonly fetchCode: () => Promise<T>,
    private readonly around: Surroundings = { clock: browserClock, reach: reachability, isCurrent },
  ) {}

  /** Loads it unless it is there or on its way. Never rejects: the state tells. */
  async load(): Promise<void> {
    const { kind } = this.state.get();
    if (kind === 'loading' || kind === 'ready') return;
    this.state.set({ kind: 'loading' });
    for (let n = 0; ; n += 1) {
      try {
        return this.state.set({ kind: 'ready', value: await this.fetchCode() });
      } catch {
        this.around.reach.suspect();
        const wait = waits[n];
        if (wait === undefined) break;
        await new Promise<void>((resolve) => this.around.clock.after(wait, resolve));
        if (!this.around.reach.state.get().up) return this.awaitServer();
      }
    }
    this.state.set({ kind: 'lost', updated: !(await this.around.isCurrent().catch(() => true)) });
  }

  /** Before it is needed: a failure is nobody's concern, and it can be tried again. */
  async prefetch(): Promise<void> {
    if (this.state.get().kind !== 'none') return;
    try {
      const value = await this.fetchCode();
      this.state.set({ kind: 'ready', value });
    } catch {
      // Whoever needs it says so.
    }
  }

  private awaitServer(): void {
    this.state.set({ kind: 'offline' });
    const stop = this.around.reach.state.subscribe(() => {
      if (!this.around.reach.state.get().up) return;
      stop();
      void this.load();
    });
  }
}
