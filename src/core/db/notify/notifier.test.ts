import { Notifier } from './notifier';

describe('announcements', () => {
  const sent: string[][] = [];
  const send = (_sql: string, [channels]: readonly unknown[]): Promise<void> => {
    sent.push(channels as string[]);
    return Promise.reject(new Error('the connection is gone'));
  };

  beforeEach(() => {
    sent.length = 0;
    jest.useFakeTimers();
  });
  afterEach(() => jest.useRealTimers());

  it('go together when they come together, each channel once', async () => {
    const notifier = new Notifier(send);
    for (const channel of ['a', 'b', 'a']) notifier.notify(channel);
    await jest.advanceTimersByTimeAsync(1);
    expect(sent).toEqual([['a', 'b']]);
  });

  it('come at most every ten milliseconds, and none is left out', async () => {
    const notifier = new Notifier(send);
    for (let ms = 0; ms < 100; ms += 1) {
      notifier.notify(`c${ms}`);
      await jest.advanceTimersByTimeAsync(1);
    }
    await notifier.close();
    expect(sent.flat()).toEqual(Array.from({ length: 100 }, (_, ms) => `c${ms}`));
    expect(sent.length).toBeLessThanOrEqual(11);
  });

  it('leave with the process that stops, also without the database', async () => {
    const notifier = new Notifier(send);
    notifier.notify('a');
    await notifier.close();
    expect(sent).toEqual([['a']]);
  });
});
