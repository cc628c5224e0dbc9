import { ZodError } from 'zod';
import { NodeUnreachableError, NodeVerbError } from '../../m2m/management/node-caller';
import { conflict, Problem } from '../../errors/problem';
import { describeFailure, storedError } from './step-failure';
import { PermanentError } from '../definition/workflow-error';

describe('describeFailure', () => {
  const host = 'host-1';
  it.each([
    ['a stated permanent error', new PermanentError('no', 'no'), 'no', true],
    ['a refusal', conflict('taken', 'taken'), 'taken', true],
    ['a server problem', new Problem({ status: 503, code: 'busy', detail: 'busy' }), 'busy', false],
    ['a final answer of a node', new NodeVerbError(host, 'v', 'disk_full', 'full', true), 'disk_full', true],
    ['a passing failure of a node', new NodeVerbError(host, 'v', 'busy', 'busy', false), 'busy', false],
    ['a node that is not reached', new NodeUnreachableError(host, 'refused'), 'node_unreachable', false],
    ['a surprise', new TypeError('x is undefined'), 'internal', false],
    ['something that is no error', 'oops', 'internal', false],
    ['wrong arguments', new ZodError([]), 'internal', true],
    [
      'data that no database takes',
      Object.assign(new Error('invalid byte sequence'), { severity: 'ERROR', code: '22021' }),
      'internal',
      true,
    ],
    [
      'wrong SQL behind the ORM',
      Object.assign(new Error('no column'), { driverError: { severity: 'ERROR', code: '42703' } }),
      'internal',
      true,
    ],
    ['a deadlock', Object.assign(new Error('deadlock'), { severity: 'ERROR', code: '40P01' }), 'internal', false],
    [
      'a lost race for a key',
      Object.assign(new Error('duplicate'), { severity: 'ERROR', code: '23505' }),
      'internal',
      false,
    ],
    ['a lost connection', Object.assign(new Error('reset'), { code: 'ECONNRESET' }), 'internal', false],
  ])('%s', (_name, error, code, permanent) => {
    expect(describeFailure(error, 'step')).toMatchObject({ code, permanent, step: 'step' });
  });

  it('keeps the text whole but for what PostgreSQL refuses', () => {
    const text = 'ü€😀'.repeat(100);
    expect(describeFailure(new PermanentError('x', text), null).message).toBe(text);
    expect(describeFailure(new PermanentError('x', 'a\u0000b\ud800c'), null).message).toBe('a\ufffdb\ufffdc');
  });

  it('names the host, and hides what it decides by', () => {
    const failure = describeFailure(new NodeUnreachableError(host, 'refused'), 'make');
    expect(failure).toMatchObject({ host, unreachable: true });
    expect(storedError(failure)).not.toHaveProperty('permanent');
  });

  it('keeps what a program said on the host for operators', () => {
    const said = "qemu-system-x86_64: Could not open '/var/lib/vc-stack/x'";
    for (const error of [
      new NodeVerbError(host, 'v', 'vmm_start_failed', 'QEMU did not start.', true, {}, said),
      new PermanentError('port_failed', 'The host could not make the port.', {}, said),
    ]) {
      const stored = storedError(describeFailure(error, 'start'));
      expect(stored.message).not.toContain('/var');
      expect(stored.cause).toBe(said);
    }
    expect(describeFailure(new NodeUnreachableError(host, 'connect ECONNREFUSED 192.0.2.7:8444'), null)).toMatchObject({
      message: 'The host cannot be reached.',
      cause: expect.stringContaining('192.0.2.7'),
    });
  });
});
