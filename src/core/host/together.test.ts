import { together } from './together';

const later = <T>(outcome: () => T): Promise<T> => new Promise<void>((resolve) => setImmediate(resolve)).then(outcome);

describe('several things at once', () => {
  it('give their results in order, whichever was done first', async () => {
    expect(
      await together(
        later(() => 'slow'),
        Promise.resolve(7),
        'plain',
      ),
    ).toEqual(['slow', 7, 'plain']);
  });

  it('have all ended when the first error is thrown', async () => {
    const done: string[] = [];
    const work = together(
      later(() => later(() => done.push('slow'))),
      Promise.reject(new Error('first')),
      later(() => {
        done.push('second');
        throw new Error('second');
      }),
    );
    await expect(work).rejects.toThrow('first');
    expect(done).toEqual(['second', 'slow']);
  });
});
