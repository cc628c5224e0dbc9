import { normaliseUrl } from './session/login';
import { buildVersion as version } from '../config/build-version';
import { runVcctl } from './program';
import { normaliseFingerprint, readableFingerprint } from './session/server-trust';

const run = async (...args: string[]): Promise<{ code: number; out: string; err: string }> => {
  let out = '';
  let err = '';
  const spies = [
    jest.spyOn(process.stdout, 'write').mockImplementation((text) => ((out += String(text)), true)),
    jest.spyOn(process.stderr, 'write').mockImplementation((text) => ((err += String(text)), true)),
  ];
  try {
    return {
      code: await runVcctl(['node', 'vcctl', ...args], { VCCTL_CONFIG: '/nonexistent/config.yaml' }, []),
      out,
      err,
    };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
};

describe('vcctl', () => {
  it('answers help with 0 and mistakes with 2', async () => {
    expect((await run('--help')).code).toBe(0);
    expect((await run('profile', 'use', '--help')).code).toBe(0);
    for (const args of [
      ['nope'],
      ['profile', 'nope'],
      ['profile', 'use'],
      ['-o', 'xml', 'profile', 'list'],
      ['completion', 'tcsh'],
      ['login', 'http://x', '--user', 'a'],
    ]) {
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

  it('shows help of any depth, its version, and takes short names of verbs', async () => {
    expect((await run('help')).out).toContain('Usage: vcctl');
    expect((await run('help', 'profile', 'use')).out).toContain('Usage: vcctl profile use');
    expect((await run('help', 'profiles', 'ls')).out).toContain('Usage: vcctl profile list|ls');
    expect(await run('help', 'profil')).toMatchObject({
      code: 2,
      err: 'error: there is no command "profil"; did you mean profile? (usage)\n',
    });
    expect(await run('--version')).toMatchObject({ code: 0, out: `vcctl ${version}\n` });
    expect(JSON.parse((await run('version', '-o', 'json')).out)).toEqual({
      client: version,
      server: { version: null, reason: 'not logged in' },
    });
    expect((await run('profiles', 'ls', '-o', 'json')).out).toBe('[]\n');
  });

  it('says what was meant', async () => {
    expect((await run('-o', 'jsn', 'profile', 'list')).err).toBe(
      'error: --output: "jsn" is not a form of output; did you mean json? There are table, wide, json, yaml, name and jsonpath=<expression>. (usage)\n',
    );
    expect((await run('completion', 'bsh')).err).toBe(
      'error: <shell>: "bsh" is not one of bash, zsh, fish; did you mean bash? (usage)\n',
    );
    expect((await run('profil', 'list')).err).toContain('Did you mean profile?');
  });

  it('tells mistakes of usage to programs in the form that they asked for', async () => {
    for (const args of [
      ['nope', '-o', 'json'],
      ['profile', 'use', '-ojson'],
      ['profile', 'list', '--nope', '--output=json'],
      ['logout', '-o', 'json'],
    ]) {
      const { code, out, err } = await run(...args);
      expect([2, 3]).toContain(code);
      expect(out).toBe('');
      expect(JSON.parse(err)).toMatchObject({
        type: expect.stringMatching(/^urn:vc-stack:problem:/),
        detail: expect.any(String),
      });
    }
  });
});

describe('addresses and fingerprints', () => {
  it('takes an https origin and nothing else', () => {
    expect(normaliseUrl('10.0.0.1:8443')).toBe('https://10.0.0.1:8443');
    expect(normaliseUrl('https://Cloud.Example.org/')).toBe('https://cloud.example.org');
    expect(normaliseUrl('https://[::1]:8443')).toBe('https://[::1]:8443');
    for (const bad of ['http://x', 'https://x/y', 'https://u:p@x', 'https://x?y', 'ftp://x', '', 'https://', 'a b'])
      expect(() => normaliseUrl(bad)).toThrow();
  });

  it('reads fingerprints as people write them', () => {
    const hex = 'ab'.repeat(32);
    for (const form of [
      hex,
      hex.toUpperCase(),
      readableFingerprint(hex),
      `SHA256:${readableFingerprint(hex)}`,
      `sha256:${hex}`,
    ])
      expect(normaliseFingerprint(form)).toBe(hex);
    for (const bad of ['', 'ab', `${hex}00`, 'zz'.repeat(32)]) expect(normaliseFingerprint(bad)).toBeUndefined();
  });
});
