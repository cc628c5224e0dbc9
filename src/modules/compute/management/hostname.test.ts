import { hostnameFrom } from './hostname';

const id = '00000000-0000-7000-8000-00000f8b2c1e';

describe('hostnameFrom', () => {
  it.each([
    ['web', 'web'],
    ['Web Server (1)', 'web-server-1'],
    ['Émile', 'emile'],
    ['-x-', 'x'],
    ['тест 🙂', 'instance-0f8b2c1e'],
    ['a'.repeat(63), 'a'.repeat(63)],
    [`${'a'.repeat(62)}.b`, 'a'.repeat(62)],
  ])('%s becomes %s', (name, hostname) => expect(hostnameFrom(name, id)).toBe(hostname));
});
