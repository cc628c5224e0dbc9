import { FakeBrowser, type Tab } from './fake-browser';
import type { FakeServer } from './fake-server';

const minute = 60_000;
/** Long enough for messages between tabs: they come by the event loop, which the fake clock does not move. */
const messages = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};
const pass = async (ms: number): Promise<void> => {
  await jest.advanceTimersByTimeAsync(ms);
  await messages();
};

describe('a session', () => {
  let browser: FakeBrowser;
  let server: FakeServer;

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
    browser = new FakeBrowser();
    server = browser.server;
  });
  afterEach(() => {
    browser.close();
    jest.useRealTimers();
  });

  const signedIn = async (kept?: Map<string, string>): Promise<Tab> => {
    const tab = await browser.tab(kept);
    await tab.session.login('ada', 'right');
    return tab;
  };
  const tokenOf = (tab: Tab): string | undefined => tab.session.session.get()?.accessToken;
  /** A tab that took over the session of those that are open. */
  const another = async (): Promise<Tab> => {
    const tab = await browser.tab();
    const adopted = tab.session.adoptFromPeers();
    await messages();
    await pass(200);
    await adopted;
    return tab;
  };

  it('begins with a login, and a wrong password begins none', async () => {
    const tab = await browser.tab();
    await expect(tab.session.login('ada', 'wrong')).rejects.toMatchObject({ status: 401, code: 'wrong_credentials' });
    expect(tab.session.session.get()).toBeNull();
    await expect(tab.session.freshToken()).rejects.toMatchObject({ status: 401 });
    await tab.session.login('ada', 'right');
    expect(await tab.session.freshToken()).toBe('access-1');
  });

  it('lasts over a reload, until its refresh token has run out', async () => {
    const kept = new Map<string, string>();
    await signedIn(kept);
    expect(tokenOf(await browser.tab(new Map(kept)))).toBe('access-1');
    jest.setSystemTime(Date.now() + 25 * 60 * minute);
    expect(tokenOf(await browser.tab(new Map(kept)))).toBeUndefined();
  });

  it('lives without storage where the browser blocks it', async () => {
    const tab = await browser.tab();
    jest.spyOn(sessionStorage, 'setItem').mockImplementation(() => {
      throw new DOMException('blocked', 'SecurityError');
    });
    await tab.session.login('ada', 'right');
    expect(tokenOf(tab)).toBe('access-1');
  });

  it('is renewed by itself before it ends, again and again', async () => {
    const tab = await signedIn();
    for (const token of ['access-2', 'access-3']) {
      await pass(15 * minute);
      expect(tokenOf(tab)).toBe(token);
    }
  });

  it('is tried again after a refresh that got no answer, and then goes on', async () => {
    const tab = await signedIn();
    server.away = true;
    await pass(16 * minute);
    expect(tokenOf(tab)).toBe('access-1');
    server.away = false;
    await pass(minute);
    expect(tokenOf(tab)).toBe('access-2');
    expect(tab.session.endedReason.get()).toBe('');
  });

  it('ends with the reason when the server does not know it any more', async () => {
    const kept = new Map<string, string>();
    const tab = await signedIn(kept);
    server.end();
    await pass(16 * minute);
    expect(tab.session.session.get()).toBeNull();
    expect(tab.session.endedReason.get()).toBe('Your session has ended. Sign in again.');
    expect([...kept]).toEqual([]);
    await tab.session.login('ada', 'right');
    expect(tab.session.endedReason.get()).toBe('');
  });

  it('fetches one new token for all requests that ask at once', async () => {
    const tab = await signedIn();
    jest.setSystemTime(Date.now() + 15 * minute);
    const tokens = Promise.all(Array.from({ length: 5 }, () => tab.session.freshToken()));
    await pass(100);
    expect(new Set(await tokens)).toEqual(new Set(['access-2']));
    expect(server.count('/login/refresh')).toBe(1);
  });

  it('is taken over by a new tab of the browser', async () => {
    await signedIn();
    expect(tokenOf(await another())).toBe('access-1');
    expect(server.count('/login')).toBe(1);
  });

  it('is renewed by one tab for all: no refresh token is used twice', async () => {
    const first = await signedIn();
    const second = await another();
    jest.setSystemTime(Date.now() + 15 * minute);
    const tokens = Promise.all([first.session.freshToken(), second.session.freshToken()]);
    for (let turn = 0; turn < 5; turn += 1) await pass(30);
    expect(await tokens).toEqual(['access-2', 'access-2']);
    expect(server.count('/login/refresh')).toBe(1);
    await pass(15 * minute);
    expect([tokenOf(first), tokenOf(second)]).toEqual(['access-3', 'access-3']);
  });

  it('ends in every tab with a logout in one, and the server is told', async () => {
    const first = await signedIn();
    const second = await another();
    await second.session.logout();
    await messages();
    expect([first.session.session.get(), second.session.session.get()]).toEqual([null, null]);
    expect(first.session.endedReason.get()).toBe('');
    expect(server.count('/logout')).toBe(1);
    await expect(first.session.freshToken()).rejects.toMatchObject({ status: 401 });
  });

  it('ends in every tab with the reason when one finds out that it has ended', async () => {
    const first = await signedIn();
    const second = await another();
    server.end();
    const asked = expect(first.session.refresh(first.session.session.get()!)).rejects.toMatchObject({ status: 401 });
    await pass(100);
    await asked;
    expect([first, second].map((tab) => [tab.session.session.get(), tab.session.endedReason.get()])).toEqual([
      [null, 'Your session has ended. Sign in again.'],
      [null, 'Your session has ended. Sign in again.'],
    ]);
  });

  it('is another one in a tab where somebody else signed in: a logout of one leaves it', async () => {
    const first = await browser.tab();
    const second = await browser.tab();
    await first.session.login('ada', 'right');
    await second.session.login('ben', 'right');
    await first.session.logout();
    await messages();
    expect([first.session.session.get(), tokenOf(second)]).toEqual([null, 'access-2']);
  });

  it('is left although the server cannot be told', async () => {
    const tab = await signedIn();
    server.away = true;
    await tab.session.logout();
    expect(tab.session.session.get()).toBeNull();
  });
});

describe('a request', () => {
  let browser: FakeBrowser;
  let server: FakeServer;

  beforeEach(() => {
    // They go as the real ones do, and are gone with the test.
    jest.useFakeTimers({
      advanceTimers: true,
      doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'],
    });
    browser = new FakeBrowser();
    server = browser.server;
  });
  afterEach(() => {
    browser.close();
    jest.useRealTimers();
  });

  const signedIn = async (): Promise<Tab> => {
    const tab = await browser.tab();
    await tab.session.login('ada', 'right');
    return tab;
  };

  it('is sent once more with a new token and the same key when the old one was refused', async () => {
    const tab = await signedIn();
    server.expire();
    await tab.api.post('/projects', { body: { name: 'red' } });
    const sent = server.seen.filter(({ path }) => path === '/projects');
    expect(sent.map(({ token }) => token)).toEqual(['access-1', 'access-2']);
    expect(sent[0]?.key).toMatch(/^[0-9a-f-]{36}$/);
    expect(sent[1]?.key).toBe(sent[0]?.key);
  });

  it('is not sent a third time: who is refused with a new token is told so', async () => {
    const tab = await signedIn();
    server.answer = () => ({ status: 401 });
    await expect(tab.api.get('/whoami')).rejects.toMatchObject({ status: 401 });
    expect(server.count('/whoami')).toBe(2);
  });

  it('ends the session when that cannot be renewed', async () => {
    const tab = await signedIn();
    server.end();
    await expect(tab.api.get('/whoami')).rejects.toMatchObject({ status: 401 });
    expect(tab.session.session.get()).toBeNull();
    expect(tab.session.endedReason.get()).not.toBe('');
  });

  it('of several that are refused at once renews the session once', async () => {
    const tab = await signedIn();
    server.expire();
    await Promise.all([tab.api.get('/whoami'), tab.api.get('/flavors'), tab.api.get('/hosts')]);
    expect(server.count('/login/refresh')).toBe(1);
  });

  it('that changes something says that nobody knows whether it was done when its answer was lost', async () => {
    const tab = await signedIn();
    server.away = true;
    await expect(tab.api.get('/whoami')).rejects.toMatchObject({ status: 0, code: 'unreachable' });
    await expect(tab.api.delete('/flavors/{ref}', { path: { ref: 'x' } })).rejects.toMatchObject({
      status: 0,
      code: expect.stringMatching(/^(no_answer|offline)$/),
    });
  });

  it('that changes something is refused and not sent while the server does not answer', async () => {
    const tab = await signedIn();
    server.away = true;
    tab.reachability.suspect();
    await new Promise<void>((resolve) => {
      const stop = tab.reachability.state.subscribe(() => {
        stop();
        resolve();
      });
    });
    server.away = false;
    await expect(tab.api.post('/projects', { body: { name: 'red' } })).rejects.toMatchObject({ code: 'offline' });
    expect(server.count('/projects')).toBe(0);
  });
});
