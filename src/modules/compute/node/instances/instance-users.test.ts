import { Config } from '../../../../core/config/config';
import { coreConfigSchema } from '../../../../core/config/core-config';
import { InstanceUsers } from './instance-users';

const users = (section: { firstUser?: number; users?: number } = {}): InstanceUsers =>
  new InstanceUsers(new Config(coreConfigSchema.parse({ sandbox: section }), {}));

describe('the user ids of instances', () => {
  it('are of the configured range, its first sixteen apart, and never given twice', () => {
    const some = users({ firstUser: 300_000, users: 80 });
    const given = Array.from({ length: 64 }, (_, n) => some.allocate(`i-${n}`));
    expect(new Set(given).size).toBe(64);
    expect([Math.min(...given), Math.max(...given)]).toEqual([300_016, 300_079]);
    expect(() => some.allocate('one-more')).toThrow(expect.objectContaining({ code: 'no_free_user', permanent: true }));
    some.release('i-7');
    expect(some.allocate('one-more')).toBe(given[7]);
  });
  it('are not given to another while a record has them', () => {
    const before = users().allocate('i-1');
    const after = users();
    expect(after.claim(before, 'other')).toBe(true);
    expect(after.claim(before, 'i-1')).toBe(false);
    expect(after.allocate('i-1')).not.toBe(before);
  });
});
