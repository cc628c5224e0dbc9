import { hostnameFrom } from './hostname';

const id = '0f8b2c1e-0000-4000-8000-000000000000';

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
