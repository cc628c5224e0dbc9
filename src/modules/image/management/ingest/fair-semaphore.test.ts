import { FairSemaphore } from './fair-semaphore';

const never = new AbortController().signal;

/** Work that notes its beginning and goes on until it is let go. */
class Desk {
  readonly begun: string[] = [];
  private readonly open = new Map<string, () => void>();

  constructor(private readonly semaphore: FairSemaphore) {}

  come(key: string, name: string, signal = never): Promise<void> {
    return this.semaphore.run(key, signal, () => {
      this.begun.push(name);
      return new Promise<void>((done) => this.open.set(name, done));
    });
  }

  async leave(name: string): Promise<void> {
    this.open.get(name)?.();
    await entered();
  }
}

/** Everybody has gone in who may. */
const entered = (): Promise<void> => new Promise((done) => setImmediate(done));

it('lets in as many as may be in, and of one key no more than its share', async () => {
  const desk = new Desk(new FairSemaphore(3, 2));
  for (const name of ['a1', 'a2', 'a3', 'a4']) void desk.come('a', name);
  await entered();
  expect(desk.begun).toEqual(['a1', 'a2']);
  void desk.come('b', 'b1');
  await entered();
  expect(desk.begun).toEqual(['a1', 'a2', 'b1']);
  await desk.leave('a1');
  expect(desk.begun).toEqual(['a1', 'a2', 'b1', 'a3']);
});

it('gives each key its turn, however many another has waiting', async () => {
  const desk = new Desk(new FairSemaphore(1, 1));
  for (let i = 1; i <= 50; i++) void desk.come('a', `a${i}`);
  void desk.come('b', 'b1');
  void desk.come('c', 'c1');
  void desk.come('b', 'b2');
  await entered();
  for (const name of ['a1', 'b1', 'c1', 'a2', 'b2']) await desk.leave(name);
  expect(desk.begun).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
});

it('forgets who stopped waiting, and frees the place of what failed', async () => {
  const semaphore = new FairSemaphore(1, 1);
  const desk = new Desk(semaphore);
  void desk.come('a', 'a1');
  const stop = new AbortController();
  const stopped = expect(desk.come('b', 'b1', stop.signal)).rejects.toThrow('enough');
  void desk.come('c', 'c1');
  stop.abort(new Error('enough'));
  await stopped;
  await desk.leave('a1');
  expect(desk.begun).toEqual(['a1', 'c1']);
  await desk.leave('c1');
  await expect(semaphore.run('d', never, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  await expect(semaphore.run('d', never, () => Promise.resolve('next'))).resolves.toBe('next');
  await expect(semaphore.run('d', stop.signal, () => Promise.resolve('late'))).rejects.toThrow('enough');
});
