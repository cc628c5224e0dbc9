import { failureOf } from './cli-failure';
import { describeFailure } from './error-printer';

describe('describeFailure', () => {
  it('prints code, cause per field and request id', () => {
    const failure = failureOf(422, {
      code: 'unacceptable',
      detail: 'The request is not acceptable.',
      requestId: 'r-1',
      errors: [
        { path: 'body.name', code: 'too_long', message: 'at most 63 characters' },
        { path: 'body.vcpus', code: 'too_small', message: 'at least 1' },
      ],
    });
    expect(describeFailure(failure)).toEqual({
      exitCode: 1,
      lines: ['error: The request is not acceptable. (unacceptable)', '  body.name: at most 63 characters (too_long)', '  body.vcpus: at least 1 (too_small)', '  request id: r-1'],
    });
  });

  it('prints why each host was refused', () => {
    const failure = failureOf(409, {
      code: 'no_host',
      detail: 'No host can take this instance.',
      hosts: [
        { hostId: '1', host: 'h1', fits: false, code: 'memory', reason: 'needs 4 GiB, has 1 GiB' },
        { hostId: '2', host: 'h2', fits: true, code: '', reason: '' },
      ],
    });
    expect(describeFailure(failure)).toEqual({ exitCode: 5, lines: ['error: No host can take this instance. (no_host)', '  host h1: needs 4 GiB, has 1 GiB (memory)'] });
  });

  it.each([
    [401, 'unauthenticated', 3],
    [404, 'not_found', 4],
    [409, 'name_taken', 5],
    [409, 'ambiguous_name', 2],
    [400, 'project_required', 2],
    [400, 'invalid_request', 1],
    [500, 'internal', 1],
  ])('%d %s ends with %d', (status, code, exitCode) => {
    expect(describeFailure(failureOf(status, { code, detail: 'x' })).exitCode).toBe(exitCode);
  });

  it('survives answers that are no problem documents', () => {
    for (const body of [undefined, null, '<html>', 7, [], { errors: 'x', hosts: [null, 3], code: 5 }]) {
      expect(describeFailure(failureOf(502, body)).lines[0]).toBe('error: The server answered 502. (http_502)');
    }
  });

  it('explains what the network says', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });
    expect(describeFailure(new AggregateError([refused], ''))).toEqual({ exitCode: 1, lines: ['error: connect ECONNREFUSED 127.0.0.1:1', '  Nothing answers there. Is vc-stack running?'] });
  });
});
