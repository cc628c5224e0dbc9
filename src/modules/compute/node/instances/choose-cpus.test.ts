import type { HostNode } from '../../../host/contract/cpu-topology';
import { chooseCpus } from './choose-cpus';

const node = (number: number, cores: number[][], dedicatedCpus: number[]): HostNode => ({
  node: number,
  memoryBytes: 2 ** 30,
  hugePagesBytes: 0,
  cores,
  dedicatedCpus,
  distances: [],
});
/** Four cores of two threads; the first core is the host's. */
const threads = node(
  0,
  [
    [0, 8],
    [1, 9],
    [2, 10],
    [3, 11],
  ],
  [1, 2, 3, 9, 10, 11],
);
const chosen = (nodes: HostNode[], cpus: number, taken: number[] = []): number[] | undefined =>
  chooseCpus(nodes, [{ node: 0, cpus, memoryBytes: 0 }], (cpu) => taken.includes(cpu))?.[0]?.cpus;

it('gives whole cores first', () => {
  expect(chosen([threads], 2)).toEqual([1, 9]);
  expect(chosen([threads], 4)).toEqual([1, 2, 9, 10]);
  expect(chosen([threads], 2, [1])).toEqual([2, 10]);
});

it('takes a piece of a core that is broken already before it breaks a whole one', () => {
  expect(chosen([threads], 1, [1])).toEqual([9]);
  expect(chosen([threads], 3, [1])).toEqual([2, 9, 10]);
  expect(chosen([threads], 1)).toEqual([1]);
});

it('does not count a core as whole whose other thread the host has', () => {
  const mixed = node(
    0,
    [
      [0, 2],
      [1, 3],
    ],
    [2, 1, 3],
  );
  expect(chosen([mixed], 2)).toEqual([1, 3]);
  expect(chosen([mixed], 1)).toEqual([2]);
  expect(chosen([mixed], 3)).toEqual([1, 2, 3]);
});

it('gives none where there are not so many', () => {
  expect(chosen([threads], 7)).toBeUndefined();
  expect(chosen([threads], 6)).toEqual([1, 2, 3, 9, 10, 11]);
  expect(chosen([threads], 6, [3])).toBeUndefined();
  expect(chosen([node(1, [[4]], [4])], 1)).toBeUndefined();
});

it('gives those of each node, in the order that is asked for', () => {
  const far = node(5, [[4], [5]], [4, 5]);
  const wanted = [
    { node: 5, cpus: 1, memoryBytes: 7 },
    { node: 0, cpus: 1, memoryBytes: 7 },
  ];
  expect(chooseCpus([threads, far], wanted, () => false)).toEqual([
    { node: 5, cpus: [4], memoryBytes: 7 },
    { node: 0, cpus: [1], memoryBytes: 7 },
  ]);
});
