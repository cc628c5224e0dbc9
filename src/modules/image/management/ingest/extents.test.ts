import { extentsOf } from './extents';

const line = (start: number, length: number, hole: boolean): string =>
  JSON.stringify({ start, length, depth: 0, present: true, zero: hole, data: !hole });

it('reads what qemu-img map prints', () => {
  const map = `[${line(0, 4096, false)},\n${line(4096, 8192, true)},\n${line(12_288, 1, false)}]\n`;
  expect([...extentsOf(map, 12_289)]).toEqual([
    { start: 0, length: 4096, hole: false },
    { start: 4096, length: 8192, hole: true },
    { start: 12_288, length: 1, hole: false },
  ]);
});

it.each([
  ['there is none', null],
  ['it is empty', ''],
  ['it is no JSON', 'qemu-img: error\n'],
  ['it begins elsewhere', `[${line(4096, 100, true)}]`],
  ['it goes beyond the end', `[${line(0, 20_000, true)}]`],
  ['it has lengths below 1', `[${line(0, 0, true)}]`],
])('takes all for data when %s', (_what, map) => {
  expect([...extentsOf(map, 10_000)]).toEqual([{ start: 0, length: 10_000, hole: false }]);
});

it('takes the rest for data where the map has a gap or ends', () => {
  expect([...extentsOf(`[${line(0, 4096, true)},\n${line(8192, 100, true)}]`, 10_000)]).toEqual([
    { start: 0, length: 4096, hole: true },
    { start: 4096, length: 5904, hole: false },
  ]);
});

it('says nothing of an empty file', () => expect([...extentsOf(null, 0)]).toEqual([]));
