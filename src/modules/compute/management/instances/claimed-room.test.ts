import { roomForBoth, roomOf } from './claimed-room';

const size = { vcpus: 2, memoryBytes: 2 ** 30, diskBytes: 2 ** 25 };

it('takes memory of huge pages from those, and none of the other memory', () => {
  expect(roomOf({ ...size, hardware: { sharedMemory: true } })).toEqual(size);
  expect(roomOf({ ...size, hardware: { pageSize: '2MiB' } })).toEqual({
    ...size,
    memoryBytes: 0,
    hugePages: { '2MiB': 2 ** 30, '1GiB': 0 },
  });
});

it('has room for either of two sizes, also where they take it from different places', () => {
  const before = roomOf({ ...size, hardware: {} });
  const after = roomOf({ ...size, vcpus: 1, memoryBytes: 2 ** 31, hardware: { pageSize: '1GiB' } });
  expect(roomForBoth(before, after)).toEqual({ ...size, hugePages: { '2MiB': 0, '1GiB': 2 ** 31 } });
  expect(roomForBoth(before, before)).toEqual({ ...size, hugePages: { '2MiB': 0, '1GiB': 0 } });
});
