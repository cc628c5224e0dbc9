import { conclude } from './ended-by-itself';

const silent = { status: null, oom: false, said: '' };

describe('what is concluded of a VMM that ended although nobody asked it to', () => {
  it.each([
    ['exited', { status: { code: 1, signal: null } }, { code: 1, signal: null }, /exit code 1/],
    ['exited', { status: { code: 0, signal: null } }, { code: 0, signal: null }, /exit code 0/],
    ['killed', { status: { code: null, signal: 'SIGSEGV' } }, { code: null, signal: 'SIGSEGV' }, /SIGSEGV/],
    ['oom-killed', { status: { code: null, signal: 'SIGKILL' }, oom: true }, { signal: 'SIGKILL' }, /memory ran out/],
    // The one that waited for it was killed with it.
    ['oom-killed', { oom: true }, { code: null, signal: null }, /memory ran out/],
    ['seccomp', { status: { code: null, signal: 'SIGSYS' } }, { signal: 'SIGSYS' }, /system call filter/],
    [
      'seccomp',
      { status: { code: 1, signal: null }, said: 'boot\nProbable seccomp violation: si_syscall=435 thread=vmm' },
      { code: 1 },
      /system call filter/,
    ],
    ['unknown', {}, { code: null, signal: null }, /nobody saw how/],
  ] as const)('%s: %j', (reason, evidence, how, words) => {
    expect(conclude('QEMU', { ...silent, ...evidence })).toMatchObject({
      cause: 'crashed',
      reason,
      ...how,
      detail: expect.stringMatching(words),
    });
  });
});
