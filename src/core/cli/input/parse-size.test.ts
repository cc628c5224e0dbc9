import { parseInteger, parseSize } from './parse-size';

describe('parseSize', () => {
  it.each([
    ['256MiB', 268_435_456],
    ['10GiB', 10 * 1024 ** 3],
    ['512M', 512 * 1024 ** 2],
    ['512m', 512 * 1024 ** 2],
    ['1.5G', 1_610_612_736],
    ['2 TiB', 2 * 1024 ** 4],
    ['1GB', 1_000_000_000],
    ['4096', 4096],
    ['64b', 64],
  ])('%s', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes);
  });

  it.each([
    '',
    'x',
    '-1',
    '1XiB',
    'GiB',
    '1.0000001K',
    '9999999999TiB',
    '0x10',
    '1e3',
    'MiB 5',
    '1__proto__',
    'constructor',
    '5constructor',
  ])('refuses %j and names the option', (text) => {
    expect(() => parseSize(text, '--memory')).toThrow(/^--memory: /);
  });
});

describe('limits of a size', () => {
  const limits = { least: 64 * 1024 ** 2, step: 1024 ** 2 };

  it.each([
    ['256', '--memory: 256 B is too little, at least 64 MiB; did you mean 256MiB?'],
    ['1MiB', '--memory: 1 MiB is too little, at least 64 MiB'],
    ['100.5MB', '--memory: 100.5MB is not a multiple of 1 MiB'],
  ])('are said in sizes: %s', (text, message) => {
    expect(() => parseSize(text, '--memory', limits)).toThrow(new Error(message));
  });

  it('let pass what keeps to them', () => {
    expect(parseSize('64MiB', '--memory', limits)).toBe(64 * 1024 ** 2);
  });
});

describe('parseInteger', () => {
  it('keeps to its limits', () => {
    expect(parseInteger('30', '--grace', 0, 600)).toBe(30);
    for (const bad of ['', '-1', '1.5', '601', '1e2', ' 1'])
      expect(() => parseInteger(bad, '--grace', 0, 600)).toThrow(/--grace/);
  });
});
