import { formatCpuList, parseCpuList } from './cpu-list';

it.each([
  ['0', [0]],
  ['0-3,8,10-11\n', [0, 1, 2, 3, 8, 10, 11]],
  ['3,1-2,2', [1, 2, 3]],
  ['', []],
  ['\n', []],
])('reads %j', (text, cpus) => expect(parseCpuList(text)).toEqual(cpus));

it.each([['a'], ['1-'], ['-1'], ['3-1'], ['0x1'], ['1;2']])('refuses %j', (text) =>
  expect(parseCpuList(text)).toBeNull(),
);

it('does not grow without bound', () => expect(parseCpuList('0-999999999')).toHaveLength(16_384));

it('writes what it reads', () => {
  expect(formatCpuList([3, 1, 2, 8, 8])).toBe('1-3,8');
  expect(formatCpuList([])).toBe('');
});
