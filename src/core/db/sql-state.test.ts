import { QueryFailedError } from 'typeorm';
import { databaseIsAway } from './sql-state';

const wrapped = (error: Error): QueryFailedError => new QueryFailedError('SELECT 1', [], error);
const coded = (code: string, extra: object = {}): Error => Object.assign(new Error(code), { code, ...extra });

describe('databaseIsAway', () => {
  it.each([
    'Connection terminated',
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'timeout exceeded when trying to connect',
    'timeout expired',
    'Client has encountered a connection error and is not queryable',
    'Client was closed and is not queryable',
    'Query read timeout',
    'Received unexpected commandComplete message from backend.',
    'Cannot use a pool after calling end on the pool',
    'Driver not Connected',
  ])('knows the words "%s", alone and of a statement', (message) => {
    expect([databaseIsAway(new Error(message)), databaseIsAway(wrapped(new Error(message)))]).toEqual([true, true]);
  });

  it.each([
    'ECONNRESET',
    'ECONNREFUSED',
    'EPIPE',
    'ETIMEDOUT',
    'ENOENT',
    'EAI_AGAIN',
    'ENOTFOUND',
    'ENETUNREACH',
    'EHOSTUNREACH',
    'ERR_STREAM_DESTROYED',
  ])('knows %s of a statement', (code) => {
    expect(databaseIsAway(wrapped(coded(code)))).toBe(true);
  });

  it.each(['08006', '57P01', '57P02', '57P03', '57P05', '53300', '25P03', '25P04'])(
    'knows the server saying %s',
    (code) => {
      expect(databaseIsAway(wrapped(coded(code, { severity: 'FATAL' })))).toBe(true);
    },
  );

  it('leaves to others what is no matter of the connection', () => {
    const others = [
      wrapped(coded('23505', { severity: 'ERROR' })),
      wrapped(coded('40001', { severity: 'ERROR' })),
      wrapped(new TypeError('x is not a function')),
      wrapped(new Error('Query values must be an array')),
      wrapped(new Error('the transaction had failed before its commit: it was rolled back')),
      coded('ECONNRESET'),
      coded('ENOENT', { syscall: 'open' }),
      new Error('anything'),
      null,
    ];
    expect(others.map(databaseIsAway)).toEqual(others.map(() => false));
  });
});
