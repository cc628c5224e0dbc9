import { waysOut } from './way-out';

const nic = (
  id: string,
  position: number,
  nat = true,
  instanceId = 'i',
  defaultRoute = false,
): Parameters<typeof waysOut>[0][number] => ({ id, instanceId, position, nat, defaultRoute });

describe('the way out of an instance', () => {
  it('is its first NIC, in whatever order the ports come', () =>
    expect(waysOut([nic('b', 1), nic('a', 0), nic('c', 2)])).toEqual(new Set(['a'])));
  it('is the first that has one', () =>
    expect(waysOut([nic('a', 0, false), nic('b', 1), nic('c', 2)])).toEqual(new Set(['b'])));
  it('is the one that its user asked for', () => {
    expect(waysOut([nic('a', 0), nic('b', 1, true, 'i', true), nic('c', 2)])).toEqual(new Set(['b']));
    expect(waysOut([nic('b', 1, true, 'i', true), nic('a', 0)])).toEqual(new Set(['b']));
  });
  it('is none without a network that has one', () => expect(waysOut([nic('a', 0, false)])).toEqual(new Set()));
  it('is one for each instance', () =>
    expect(waysOut([nic('a', 0, true, 'i'), nic('b', 0, true, 'j'), nic('c', 1, true, 'j')])).toEqual(
      new Set(['a', 'b']),
    ));
});
