import { Command } from 'commander';
import { normaliseUrl } from './login';
import { buildProgram, runVcctl } from './program';
import { completionScript } from './completion';
import { normaliseFingerprint, readableFingerprint } from './server-trust';
import { TerminalContext } from './terminal-context';

const run = async (...args: string[]): Promise<{ code: number; out: string; err: string }> => {
  let out = '';
  let err = '';
  const spies = [
    jest.spyOn(process.stdout, 'write').mockImplementation((text) => ((out += String(text)), true)),
    jest.spyOn(process.stderr, 'write').mockImplementation((text) => ((err += String(text)), true)),
  ];
  try {
    return { code: await runVcctl(['node', 'vcctl', ...args], { VCCTL_CONFIG: '/nonexistent/config.yaml' }, []), out, err };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
};

describe('vcctl', () => {
  it('answers help with 0 and mistakes with 2', async () => {
    expect((await run('--help')).code).toBe(0);
    expect((await run('profile', 'use', '--help')).code).toBe(0);
    for (const args of [['nope'], ['profile', 'nope'], ['profile', 'use'], ['-o', 'xml', 'profile', 'list'], ['completion', 'fish'], ['login', 'http://x', '--user', 'a']]) {
      expect((await run(...args)).code).toBe(2);
    }
  });

  it('asks for a login with exit code 3', async () => {
    const { code, err } = await run('logout');
    expect(code).toBe(3);
    expect(err).toContain('vcctl login');
  });

  it('takes global options after the command', async () => {
    const { code, out } = await run('profile', 'list', '-o', 'json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual([]);
  });

  it('completes every command with its options', () => {
    const script = completionScript(buildProgram(new TerminalContext({}), [{ register: (p: Command) => void p.command('thing').command('do').option('--fast') }]), 'bash');
    expect(script).toMatch(/"vcctl thing do"\) words="--profile --project --output --fast"/);
    expect(script).toMatch(/"vcctl profile"\) words="list use remove /);
  });
});

describe('addresses and fingerprints', () => {
  it('takes an https origin and nothing else', () => {
    expect(normaliseUrl('10.0.0.1:8443')).toBe('https://10.0.0.1:8443');
    expect(normaliseUrl('https://Cloud.Example.org/')).toBe('https://cloud.example.org');
    expect(normaliseUrl('https://[::1]:8443')).toBe('https://[::1]:8443');
    for (const bad of ['http://x', 'https://x/y', 'https://u:p@x', 'https://x?y', 'ftp://x', '', 'https://', 'a b']) expect(() => normaliseUrl(bad)).toThrow();
  });

  it('reads fingerprints as people write them', () => {
    const hex = 'ab'.repeat(32);
    for (const form of [hex, hex.toUpperCase(), readableFingerprint(hex), `SHA256:${readableFingerprint(hex)}`, `sha256:${hex}`]) expect(normaliseFingerprint(form)).toBe(hex);
    for (const bad of ['', 'ab', `${hex}00`, 'zz'.repeat(32)]) expect(normaliseFingerprint(bad)).toBeUndefined();
  });
});
