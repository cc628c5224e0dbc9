import { wholeModels } from './qemu-cpus';

const model = (name: string, missing: string[] | undefined, more: object = {}) => ({
  name,
  typename: `${name}-x86_64-cpu`,
  static: false,
  ...(missing && { 'unavailable-features': missing }),
  ...more,
});

it('knows models of which nothing is missing, and of no others', () => {
  const said = [
    { QMP: { version: {}, capabilities: [] } },
    { return: {} },
    {
      return: [
        model('max', []),
        model('base', [], { static: true }),
        model('host', ['kvm']),
        model('EPYC-v1', ['svm', 'npt']),
        model('Nehalem', [], { 'alias-of': 'Nehalem-v1' }),
        model('Conroe', undefined),
      ],
    },
    { return: {} },
    { event: 'SHUTDOWN' },
  ].map((line) => JSON.stringify(line));
  expect(wholeModels(`${said.join('\r\n')}\r\n`)).toEqual(['Nehalem', 'max']);
});

it('knows none of one that says something else', () => {
  for (const said of ['', 'Could not access KVM kernel module', '{"error": {"class": "CommandNotFound"}}'])
    expect(wholeModels(said)).toEqual([]);
});
