import { atOnce } from './at-once';

const sqlError = (code: string): Error => Object.assign(new Error(code), { code, severity: 'ERROR' });
const later = <T>(outcome: () => T): Promise<T> => new Promise<void>((resolve) => setImmediate(resolve)).then(outcome);
const fails = (error: Error): Promise<never> =>
  later(() => {
    throw error;
  });

describe('work of a transaction that is asked for together', () => {
  it('gives its results in order', async () => {
    expect(
      await atOnce(
        later(() => 'slow'),
        Promise.resolve(7),
        'plain',
      ),
    ).toEqual(['slow', 7, 'plain']);
  });

  it('fails with the first error in the order given, when all have ended', async () => {
    const done: string[] = [];
    const work = atOnce(
      fails(new Error('first')),
      Promise.reject(new Error('second')),
      later(() => later(() => done.push('slow'))),
    );
    await expect(work).rejects.toThrow('first');
    expect(done).toEqual(['slow']);
  });

  it('fails with what went wrong, not with what that did to the others', async () => {
    await expect(atOnce(fails(sqlError('25P02')), fails(sqlError('40P01')))).rejects.toThrow('40P01');
    await expect(atOnce(fails(sqlError('25P02')), 1)).rejects.toThrow('25P02');
  });
});
