import { runningResizeRefusal } from './instance-size';

const GiB = 2 ** 30;
const now = { vcpus: 2, memoryBytes: GiB, diskBytes: GiB, maxVcpus: 4, maxMemoryBytes: 4 * GiB };
const refusal = (size: Partial<typeof now>, of: Partial<typeof now> | { maxVcpus: null } = {}): string | undefined =>
  runningResizeRefusal({ ...now, ...of }, { ...now, ...size })?.detail;

it('lets an instance that runs get what is within its maximum, and less', () => {
  for (const size of [
    {},
    { vcpus: 4, memoryBytes: 4 * GiB },
    { vcpus: 1 },
    { memoryBytes: GiB / 2 },
    { memoryBytes: GiB + 2 ** 27 },
  ])
    expect(refusal(size)).toBeUndefined();
});

it('says exactly why it must be stopped first', () => {
  expect(refusal({ vcpus: 5 })).toContain('may get 4 vCPUs at most');
  expect(refusal({ memoryBytes: 5 * GiB })).toContain('may get 4096 MiB of memory at most');
  expect(refusal({ memoryBytes: GiB + 1024 })).toContain('by 128 MiB');
  expect(refusal({ diskBytes: 2 * GiB })).toContain('its disk grows only while it does not');
  const none = { maxVcpus: null, maxMemoryBytes: null };
  expect(runningResizeRefusal({ ...now, ...none }, now)).toEqual({
    code: 'resize_needs_stop',
    detail: 'It runs, and was created without a maximum to grow to: stop it first, then resize and start it.',
  });
});

it('counts what it has where it has no maximum, or has grown beyond it', () => {
  expect(refusal({ vcpus: 3 }, { maxVcpus: null })).toContain('may get 2 vCPUs at most');
  expect(refusal({ vcpus: 5 }, { vcpus: 6 })).toBeUndefined();
});
