import { lockKeysOf, lockWords } from './lock-keys';

describe('the locks of a task', () => {
  it('are taken in one order, each once', () => {
    expect(lockKeysOf(['volume/b', 'instance/a', 'volume/b'])).toEqual(['instance/a', 'volume/b']);
    expect(lockKeysOf('one')).toEqual(['one']);
    expect(lockKeysOf([])).toBeNull();
    expect(lockKeysOf(undefined)).toBeNull();
  });

  it('are named by the object that they are of', () => {
    const own = '0b7e9c5e-0000-4000-8000-000000000001';
    const other = '0b7e9c5e-0000-4000-8000-000000000002';
    const subject = { kind: 'instance', id: own };
    expect(lockWords(`instance/${own}`, subject)).toBe('this instance');
    expect(lockWords(`volume/${other}`, subject)).toBe(`volume ${other}`);
    expect(lockWords('chaos', subject)).toBe('this instance');
  });
});
