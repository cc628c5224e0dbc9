import { poolNeed, poolStore } from './pool-needs';

it('wants a host with the pool, and says where a disk lies in it', () => {
  const { refuses } = poolNeed('fast');
  expect(refuses({ pools: [{ name: 'default' }, { name: 'fast' }] })).toBeUndefined();
  expect(refuses({ pools: [{ name: 'default' }] })).toBe('it has no storage pool "fast"');
  expect(refuses({})).toBe('it has no storage pool "fast"');
  expect(poolStore('fast')).toEqual({ key: 'pools/fast', words: 'the pool "fast"' });
});
