import type { NodeRoom } from '../../host/contract/cpu-topology';
import { largerClaims } from '../contract/cpu-claims';
import { couldPlace, freeCpus, placeCpus, usedWith } from './cpu-placement';

const nodes: NodeRoom[] = [
  { node: 0, dedicatedCpus: 8, memoryBytes: 64 },
  { node: 2, dedicatedCpus: 4, memoryBytes: 64 },
  { node: 7, dedicatedCpus: 4, memoryBytes: 8 },
];
const place = (
  count: number,
  numaNodes: number | null = null,
  used: Parameters<typeof placeCpus>[1] = {},
  memoryBytes = 16,
) => placeCpus(nodes, used, { count, numaNodes, memoryBytes })?.map(({ node, cpus }) => [node, cpus]);

it('is on one node, the smallest that has room', () => {
  expect(place(3)).toEqual([[2, 3]]);
  expect(place(3, null, { 7: { cpus: 1, memoryBytes: 0 } })).toEqual([[7, 3]]);
  expect(place(6)).toEqual([[0, 6]]);
});

it('is on as few nodes as may be where one has not enough', () => {
  expect(place(10)).toEqual([
    [0, 8],
    [7, 2],
  ]);
  expect(place(16)).toEqual([
    [0, 8],
    [2, 4],
    [7, 4],
  ]);
  expect(place(17)).toBeUndefined();
});

it('is spread evenly over the nodes of the host that are asked for, with their memory', () => {
  expect(place(4, 2)).toEqual([
    [2, 2],
    [7, 2],
  ]);
  // Node 7 has memory for 8, and what is bound there already counts.
  expect(place(4, 2, {}, 32)).toEqual([
    [0, 2],
    [2, 2],
  ]);
  expect(place(4, 2, { 2: { cpus: 0, memoryBytes: 60 } }, 32)).toBeUndefined();
  expect(place(10, 2)).toBeUndefined();
  expect(place(4, 4)).toBeUndefined();
});

it('knows whether it could ever be', () => {
  expect(couldPlace(nodes, { count: 16, numaNodes: null, memoryBytes: 0 })).toBe(true);
  expect(couldPlace([], { count: 1, numaNodes: null, memoryBytes: 0 })).toBe(false);
});

it('counts what is left, also where more is claimed than there is any more', () => {
  expect(freeCpus(nodes, { 0: { cpus: 9, memoryBytes: 0 }, 2: { cpus: 1, memoryBytes: 0 } })).toBe(7);
  expect(
    placeCpus(nodes, { 0: { cpus: 9, memoryBytes: 0 } }, { count: 9, numaNodes: null, memoryBytes: 0 }),
  ).toBeNull();
});

it('adds claims, takes them away, and holds the larger of two ways', () => {
  const claims = [{ node: 2, cpus: 3, memoryBytes: 5 }];
  const with3 = usedWith({}, claims);
  expect(with3).toEqual({ 2: { cpus: 3, memoryBytes: 5 } });
  expect(usedWith(with3, claims, -1)).toEqual({ 2: { cpus: 0, memoryBytes: 0 } });
  expect(
    largerClaims(claims, [
      { node: 0, cpus: 1, memoryBytes: 0 },
      { node: 2, cpus: 1, memoryBytes: 9 },
    ]),
  ).toEqual([
    { node: 0, cpus: 1, memoryBytes: 0 },
    { node: 2, cpus: 3, memoryBytes: 9 },
  ]);
});
