import { hostnameFrom, hostnamesFrom } from './hostname';

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
    ['127', 'instance-127'],
    ['0x7f', 'instance-0x7f'],
    ['5m', 'instance-5m'],
    ['1.2.3.4', '1-2-3-4'],
    ['Localhost', 'instance-localhost'],
    ['wpad', 'instance-wpad'],
    ['ignore', 'instance-ignore'],
    [`${'9'.repeat(63)}`, `instance-${'9'.repeat(54)}`],
  ])('%s becomes %s', (name, hostname) => expect(hostnameFrom(name, id)).toBe(hostname));
});

describe('hostnamesFrom', () => {
  it('ends with one that nobody else can have', () => {
    const names = hostnamesFrom('Web!', id);
    expect(names.slice(0, 3)).toEqual(['web', 'web-2', 'web-3']);
    expect(names.at(-1)).toBe('web-00000f8b2c1e');
    expect(new Set(names).size).toBe(names.length);
  });
  it('keeps to 63 characters', () => {
    for (const name of hostnamesFrom('a'.repeat(63), id)) expect(name.length).toBeLessThanOrEqual(63);
  });
});
