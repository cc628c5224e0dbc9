import { Command } from 'commander';
import { failureOf, usageFailure } from '../cli-failure';
import { describeFailure, failureDocument } from './error-printer';

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
      lines: [
        'error: The request is not acceptable. (unacceptable)',
        '  name: at most 63 characters (too_long)',
        '  vcpus: at least 1 (too_small)',
        '  request id: r-1',
      ],
    });
  });

  it('says what the fields are called on the command line, and says it once', () => {
    const command = new Command('create')
      .argument('<name>')
      .option('--memory <size>')
      .option('--network <network>')
      .option('--stop-grace <seconds>')
      .option('--key <file|name>');
    const refused = (errors: { path: string; code: string; message: string }[], detail: string): string[] =>
      describeFailure(failureOf(422, { code: 'unacceptable', detail, errors }), { command }).lines;
    expect(
      refused(
        [{ path: 'body.memoryBytes', code: 'too_small', message: 'at least 64 MiB' }],
        'body.memoryBytes: at least 64 MiB.',
      ),
    ).toEqual(['error: --memory: at least 64 MiB (too_small)']);
    expect(
      refused(
        [
          { path: 'body.name', code: 'too_long', message: 'at most 63 characters' },
          { path: 'body.networks.0.address', code: 'invalid_format', message: 'not an address' },
          { path: 'body.stopGraceSeconds', code: 'too_big', message: 'at most 600' },
          { path: 'body.sshKeys.1', code: 'invalid', message: 'no key' },
          { path: 'body.other', code: 'unknown_key', message: 'is not known here' },
        ],
        'body.name: at most 63 characters (and 4 more).',
      ),
    ).toEqual([
      'error: <name>: at most 63 characters (too_long)',
      '  --network: not an address (invalid_format)',
      '  --stop-grace: at most 600 (too_big)',
      '  --key: no key (invalid)',
      '  other: is not known here (unknown_key)',
    ]);
    expect(
      refused(
        [{ path: 'body.networks.0.network', code: 'not_found', message: 'There is no network "n1".' }],
        'There is no network "n1".',
      ),
    ).toEqual(['error: There is no network "n1". (unacceptable)', '  field: --network']);
  });

  it('does not repeat what a sentence says already', () => {
    const taken = failureOf(409, {
      code: 'name_taken',
      detail: 'There is a flavor named "tiny" already.',
      errors: [{ path: 'body.name', code: 'name_taken', message: 'taken' }],
    });
    expect(describeFailure(taken).lines).toEqual(['error: There is a flavor named "tiny" already. (name_taken)']);
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
    expect(describeFailure(failure)).toEqual({
      exitCode: 5,
      lines: ['error: No host can take this instance. (no_host)', '  host h1: needs 4 GiB, has 1 GiB (memory)'],
    });
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
    expect(describeFailure(new AggregateError([refused], ''))).toEqual({
      exitCode: 1,
      lines: ['error: connect ECONNREFUSED 127.0.0.1:1', '  Nothing answers there. Is vc-stack running?'],
    });
  });

  it('says in words what the file system says', () => {
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', path: '/tmp/x' });
    expect(describeFailure(full)).toEqual({ exitCode: 1, lines: ['error: /tmp/x: the disk is full (ENOSPC)'] });
  });
});

describe('failureDocument', () => {
  it('is the problem document as the server sent it', () => {
    const problem = {
      type: 'urn:vc-stack:problem:no_host',
      code: 'no_host',
      detail: 'No host fits.',
      status: 409,
      hosts: [{ host: 'h1' }],
      requestId: 'r',
    };
    expect(failureDocument(failureOf(409, problem))).toEqual(problem);
  });

  it("has the same form for the client's own failures", () => {
    expect(failureDocument(usageFailure('name one'))).toEqual({
      type: 'urn:vc-stack:problem:usage',
      code: 'usage',
      detail: 'name one',
    });
    expect(failureDocument(failureOf(502, '<html>'))).toEqual({
      type: 'urn:vc-stack:problem:http_502',
      code: 'http_502',
      detail: 'The server answered 502.',
    });
    expect(failureDocument(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }))).toMatchObject({
      code: 'econnrefused',
      hint: 'Nothing answers there. Is vc-stack running?',
    });
  });
});
