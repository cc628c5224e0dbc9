import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { FakeControlPlane } from './fake-control-plane';

const root = resolve(__dirname, '../../..');
/** What Node runs vcctl with, from its sources. */
export const vcctlCommand = ['-r', join(root, 'test/support/ts-register.js'), join(root, 'src/vcctl.ts')];

/** As vcctl shows the certificate's fingerprint. */
export const fingerprint = (pem: string): string => new X509Certificate(pem).fingerprint256;

interface Result {
  code: number;
  out: string;
  err: string;
}

interface VcctlSuite {
  /** Runs it with these arguments. */
  vcctl(args: string[], input?: string): Promise<Result>;
  login(...more: string[]): Promise<Result>;
  /** As a login leaves it, without the time that one takes. */
  loggedIn(): Promise<void>;
  /** What the test works on; from its `beforeEach` on. */
  started(): { dir: string; config: string; plane: FakeControlPlane; env: NodeJS.ProcessEnv };
}

/** vcctl with a home and a server of its own for each test of the suite that calls it. */
export const vcctlSuite = (): VcctlSuite => {
  let dir: string;
  let config: string;
  let plane: FakeControlPlane;
  let env: NodeJS.ProcessEnv;

  const vcctl = (args: string[], input = ''): Promise<Result> =>
    new Promise((done) => {
      const child = execFile(
        process.execPath,
        [...vcctlCommand, ...args],
        { env, timeout: 30_000 },
        (error, out, err) => done({ code: error ? Number(error.code ?? -1) : 0, out, err }),
      );
      child.stdin?.on('error', () => undefined);
      child.stdin?.end(input);
    });
  const login = (...more: string[]): Promise<Result> =>
    vcctl(
      ['login', plane.url, '--user', 'admin', '--password-stdin', '--profile', 'local', ...more],
      'right password\n',
    );
  const loggedIn = (): Promise<void> => {
    const profile = {
      name: 'local',
      url: plane.url,
      ca: plane.pki.ca,
      project: 'default',
      accessToken: plane.accessToken,
      accessExpiresAt: new Date(Date.now() + 900_000).toISOString(),
      refreshToken: plane.refreshToken,
    };
    return writeFile(config, JSON.stringify({ current: 'local', profiles: [profile] }));
  };
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'vcctl-'));
    config = join(dir, 'config.yaml');
    env = { PATH: process.env['PATH'], VCCTL_CONFIG: config, HOME: dir };
    plane = await FakeControlPlane.start();
    await writeFile(join(dir, 'ca.pem'), plane.pki.ca);
  });
  afterEach(async () => {
    await plane.stop();
    await rm(dir, { recursive: true, force: true });
  });
  return { vcctl, login, loggedIn, started: () => ({ dir, config, plane, env }) };
};
