import { QueryClient, type InfiniteData } from '@tanstack/react-query';
import type { LiveState } from './live';
import type { Store } from './store';
import type { LiveEventRecord, Page } from './types';

interface Dialled {
  options: { auth: { token: string; since: number } };
  /** As the server does. */
  emit: (name: string, value?: unknown) => void;
  disconnected: boolean;
}

const dialled: Dialled[] = [];
jest.mock('socket.io-client', () => ({
  io: (options: Dialled['options']) => {
    const handlers = new Map<string, (value: unknown) => void>();
    const socket: Dialled = { options, emit: (name, value) => handlers.get(name)?.(value), disconnected: false };
    dialled.push(socket);
    return {
      on: (name: string, handler: (value: unknown) => void) => void handlers.set(name, handler),
      disconnect: () => {
        socket.disconnected = true;
      },
    };
  },
}));
const renewed = jest.fn(() => Promise.resolve());
jest.mock('./session', () => ({
  freshToken: () => Promise.resolve('token'),
  refresh: () => renewed(),
  session: { get: () => ({ accessToken: 'token' }) },
}));

interface Row {
  id: string;
  state: string;
  name?: string;
  error?: { code: string; hint?: string } | null;
}

const affects = { instance: ['instances', 'volumes'], task: ['tasks'] };
let seq = 100;
const event = (type: string, id: string, data: object = {}, more: Partial<LiveEventRecord> = {}): LiveEventRecord =>
  ({ seq: ++seq, type, subject: { kind: type.split('.')[0] ?? '', id, name: id }, data, ...more }) as LiveEventRecord;

describe('live events', () => {
  let client: QueryClient;
  let stop: () => void;
  let liveState: Store<LiveState>;
  let reachability: { heard: () => void; suspect: () => void };
  let asked: string[];

  beforeEach(async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
    jest.spyOn(globalThis, 'fetch').mockImplementation(() => Promise.resolve(new Response('{}')));
    Object.defineProperty(globalThis, 'window', { configurable: true, value: globalThis });
    dialled.length = 0;
    renewed.mockClear();
    seq = 100;
    asked = [];
    client = new QueryClient();
    client.getQueryCache().subscribe(({ type, query }) => {
      if (type === 'updated' && query.state.isInvalidated) asked.push(query.queryKey.join('/'));
    });
    const live = await import('./live');
    ({ liveState } = live);
    ({ reachability } = await import('./reachability'));
    stop = live.startLive(client, 100, affects);
    await pass(1);
  });
  afterEach(() => {
    stop();
    client.clear();
    jest.useRealTimers();
    jest.restoreAllMocks();
    Reflect.deleteProperty(globalThis, 'window');
  });

  const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);
  const socket = (): Dialled => {
    const last = dialled.at(-1);
    if (last === undefined) throw new Error('nothing was dialled');
    return last;
  };
  const listed = (collection: string, ...pages: Row[][]): void =>
    void client.setQueryData([collection, 'list', {}], {
      pages: pages.map((items) => ({ items, next: null })),
      pageParams: [],
    });
  const rows = (collection: string): Row[] =>
    client.getQueryData<InfiniteData<Page<Row>>>([collection, 'list', {}])?.pages.flatMap((page) => page.items) ?? [];
  /** Reconnects, after a loss, as soon as it may. */
  const reconnected = async (): Promise<Dialled> => {
    const before = dialled.length;
    for (let waited = 0; dialled.length === before && waited < 20_000; waited += 100) await pass(100);
    expect(dialled).toHaveLength(before + 1);
    return socket();
  };

  it('begin where they stood before anything was loaded', () => {
    expect(socket().options.auth).toEqual({ token: 'token', since: 100 });
  });

  it('change a row on whatever page of a list, and the page of the object', () => {
    listed('instances', [{ id: 'a', state: 'running' }], [{ id: 'b', state: 'running', name: 'web' }]);
    client.setQueryData(['instances', 'one', 'b'], { id: 'b', state: 'running', name: 'web' });
    socket().emit('event', event('instance.updated', 'b', { state: 'stopped' }));
    expect(rows('instances')).toEqual([
      { id: 'a', state: 'running' },
      { id: 'b', state: 'stopped', name: 'web' },
    ]);
    expect(client.getQueryData(['instances', 'one', 'b'])).toEqual({ id: 'b', state: 'stopped', name: 'web' });
  });

  it('take what was deleted out of its lists', () => {
    listed('instances', [{ id: 'a', state: 'running' }], [{ id: 'b', state: 'running' }]);
    socket().emit('event', event('instance.deleted', 'a'));
    expect(rows('instances').map(({ id }) => id)).toEqual(['b']);
  });

  it('change nothing that is not loaded, and add nothing', () => {
    listed('instances', [{ id: 'a', state: 'running' }]);
    socket().emit('event', event('instance.updated', 'z', { state: 'stopped' }));
    expect(rows('instances')).toEqual([{ id: 'a', state: 'running' }]);
    expect(client.getQueryData(['instances', 'one', 'z'])).toBeUndefined();
  });

  it('bring the whole story of a failure with them', () => {
    listed('tasks', [{ id: 't', state: 'running', error: null }]);
    client.setQueryData(['tasks', 'one', 't'], { id: 't', state: 'running', error: null });
    const error = { code: 'no_host', reason: 'There is no room.', hint: 'Choose a smaller flavor.' };
    socket().emit('event', event('task.updated', 't', { state: 'failed', error }));
    expect(client.getQueryData(['tasks', 'one', 't'])).toEqual({ id: 't', state: 'failed', error });
    expect(rows('tasks')).toEqual([{ id: 't', state: 'failed', error }]);
    socket().emit('event', event('task.updated', 't', { state: 'running', error: null }));
    expect(rows('tasks')).toEqual([{ id: 't', state: 'running', error: null }]);
  });

  it('never take the whole text of a failure away for its short cause', () => {
    const error = { code: 'no_host', hint: 'Choose a smaller flavor.' };
    client.setQueryData(['tasks', 'one', 't'], { id: 't', state: 'running', error });
    socket().emit('event', event('task.updated', 't', { state: 'failed', error: { code: 'no_host' } }));
    expect(client.getQueryData(['tasks', 'one', 't'])).toEqual({ id: 't', state: 'failed', error });
  });

  it('do not bring back an older state, when one comes a second time or late', () => {
    listed('instances', [{ id: 'a', state: 'starting' }]);
    const [older, newer] = [
      event('instance.updated', 'a', { state: 'running' }),
      event('instance.updated', 'a', { state: 'stopped' }),
    ];
    for (const one of [newer, older, newer]) socket().emit('event', one);
    expect(rows('instances')).toEqual([{ id: 'a', state: 'stopped' }]);
  });

  it('have everything asked again that may show what changed, once for a burst', async () => {
    listed('instances', [{ id: 'a', state: 'running' }]);
    listed('volumes', [{ id: 'v', state: 'ready' }]);
    listed('flavors', [{ id: 'f', state: '' }]);
    for (let i = 0; i < 20; i += 1) socket().emit('event', event('instance.updated', 'a', { state: `s${i}` }));
    await pass(1000);
    expect(asked.filter((key) => key.startsWith('volumes'))).toHaveLength(1);
    expect(asked.some((key) => key.startsWith('instances'))).toBe(true);
    expect(asked.some((key) => key.startsWith('flavors'))).toBe(false);
  });

  it('of a kind that this console does not know reach its collection all the same, and harm nothing', async () => {
    listed('beacons', [{ id: 'x', state: 'dark' }]);
    socket().emit('event', event('beacon.updated', 'x', { state: 'lit' }));
    socket().emit('event', event('beacon.exploded', 'x', { state: 'gone' }));
    expect(rows('beacons')).toEqual([{ id: 'x', state: 'lit' }]);
    await pass(1000);
    expect(asked).toContain('beacons/list/[object Object]');
  });

  it('go on after the last one that was seen, when the connection broke', async () => {
    socket().emit('ready', { seq: 104 });
    expect(liveState.get()).toBe('live');
    seq = 106;
    socket().emit('event', event('instance.updated', 'a'));
    socket().emit('disconnect');
    const again = await reconnected();
    expect(again.options.auth.since).toBe(107);
    again.emit('ready', { seq: 107 });
    expect(liveState.get()).toBe('live');
  });

  it('load everything anew where some were lost, but not where they began', async () => {
    listed('flavors', [{ id: 'f', state: '' }]);
    client.setQueryData(['events', 'position'], { seq: 100 });
    socket().emit('reset', { reason: 'older events are no longer kept' });
    await pass(1);
    expect(asked).toEqual(['flavors/list/[object Object]']);
  });

  it('load everything anew when the rights of the user are others, and go on from where they are', async () => {
    listed('networks', [{ id: 'n', state: '' }]);
    socket().emit('ready', { seq: 104 });
    socket().emit('rights');
    await pass(1);
    expect(asked).toEqual(['networks/list/[object Object]']);
    socket().emit('disconnect');
    expect((await reconnected()).options.auth.since).toBe(104);
  });

  it('load everything anew when the rights of the user became others while the connection was away', async () => {
    listed('networks', [{ id: 'n', state: '' }]);
    socket().emit('ready', { seq: 104, rights: 'member' });
    socket().emit('disconnect');
    (await reconnected()).emit('ready', { seq: 104, rights: 'member' });
    expect(asked).toEqual([]);
    socket().emit('disconnect');
    (await reconnected()).emit('ready', { seq: 104, rights: 'nobody' });
    await pass(1);
    expect(asked).toEqual(['networks/list/[object Object]']);
  });

  it('count anew after a reset: the numbers of a restored database are lower', async () => {
    listed('instances', [{ id: 'a', state: 'running' }]);
    socket().emit('reset', { reason: 'there is no such event' });
    socket().emit('ready', { seq: 7 });
    seq = 7;
    socket().emit('event', event('instance.updated', 'a', { state: 'stopped' }));
    expect(rows('instances')).toEqual([{ id: 'a', state: 'stopped' }]);
    socket().emit('disconnect');
    expect((await reconnected()).options.auth.since).toBe(8);
  });

  it('of a connection that was given up are not heard any more', async () => {
    listed('instances', [{ id: 'a', state: 'running' }]);
    const first = socket();
    first.emit('disconnect');
    await reconnected();
    expect(first.disconnected).toBe(true);
    first.emit('event', event('instance.updated', 'a', { state: 'stopped' }));
    expect(rows('instances')).toEqual([{ id: 'a', state: 'running' }]);
  });

  it('say that they are missing when they do not come back soon, and not for a short loss', async () => {
    socket().emit('ready', { seq: 100 });
    socket().emit('disconnect');
    (await reconnected()).emit('ready', { seq: 100 });
    expect(liveState.get()).toBe('live');
    socket().emit('disconnect');
    await pass(2000);
    expect(liveState.get()).toBe('polling');
    socket().emit('ready', { seq: 100 });
    expect(liveState.get()).toBe('live');
  });

  it('renew the session when its token is refused, and try again', async () => {
    socket().emit('connect_error', new Error('unauthenticated'));
    await reconnected();
    expect(renewed).toHaveBeenCalledTimes(1);
  });

  it('are followed by a load of all that shows once the server answers again', async () => {
    listed('flavors', [{ id: 'f', state: '' }]);
    jest.mocked(fetch).mockImplementation(() => Promise.reject(new TypeError('fetch failed')));
    reachability.suspect();
    await pass(1);
    expect(asked).toEqual([]);
    reachability.heard();
    expect(asked).toEqual(['flavors/list/[object Object]']);
  });

  it('end with the console: no socket and no timer is left', async () => {
    listed('instances', [{ id: 'a', state: 'running' }]);
    const last = socket();
    last.emit('ready', { seq: 100 });
    last.emit('event', event('instance.updated', 'a'));
    stop();
    expect([last.disconnected, liveState.get()]).toEqual([true, 'connecting']);
    await pass(60_000);
    expect(dialled).toHaveLength(1);
    expect(asked).toEqual([]);
  });
});
