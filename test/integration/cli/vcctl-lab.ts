import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { spawn as spawnPty } from 'node-pty';
import { commandsOf } from '../../../src/core/app/declarations';
import { runVcctl } from '../../../src/core/cli/program';
import { allModules } from '../../../src/modules/all-modules';
import { FakeControlPlane } from './fake-control-plane';

const root = resolve(__dirname, '../../..');
/** The client as a process of its own. */
export const vcctlCommand = ['-r', join(root, 'test/support/ts-register.js'), join(root, 'src/vcctl.ts')];

export interface Result {
  code: number;
  out: string;
  err: string;
}

/** Runs a command line in this process, without a terminal on any side. */
export const runHere = async (env: NodeJS.ProcessEnv, args: string[], modules = allModules): Promise<Result> => {
  let out = '';
  let err = '';
  const { stdin, stdout, stderr } = process;
  const terminals = [stdin, stdout, stderr].map(
    (stream) => [stream, Object.getOwnPropertyDescriptor(stream, 'isTTY')] as const,
  );
  for (const [stream] of terminals) Object.defineProperty(stream, 'isTTY', { value: false, configurable: true });
  const spies = [
    jest.spyOn(stdout, 'write').mockImplementation((text) => ((out += String(text)), true)),
    jest.spyOn(stderr, 'write').mockImplementation((text) => ((err += String(text)), true)),
  ];
  try {
    return { code: await runVcctl(['node', 'vcctl', ...args], env, await commandsOf(modules)), out, err };
  } finally {
    for (const spy of spies) spy.mockRestore();
    for (const [stream, before] of terminals) {
      if (before) Object.defineProperty(stream, 'isTTY', before);
      else delete (stream as { isTTY?: boolean }).isTTY;
    }
  }
};

/** A logged-in client beside a small server. */
export class VcctlLab {
  private constructor(
    readonly dir: string,
    readonly plane: FakeControlPlane,
    readonly env: NodeJS.ProcessEnv,
  ) {}

  static async start(): Promise<VcctlLab> {
    const dir = await mkdtemp(join(tmpdir(), 'vcctl-'));
    const plane = await FakeControlPlane.start();
    const config = join(dir, 'config.yaml');
    const profile = {
      name: 'local',
      url: plane.url,
      ca: plane.pki.ca,
      project: 'default',
      accessToken: plane.accessToken,
      accessExpiresAt: new Date(Date.now() + 900_000).toISOString(),
      refreshToken: plane.refreshToken,
    };
    await writeFile(config, JSON.stringify({ current: 'local', profiles: [profile] }));
    return new VcctlLab(dir, plane, { PATH: process.env['PATH'], VCCTL_CONFIG: config, HOME: dir });
  }

  async stop(): Promise<void> {
    await this.plane.stop();
    await rm(this.dir, { recursive: true, force: true });
  }

  /** Runs a command line in this process, without a terminal on any side. */
  run(...args: string[]): Promise<Result> {
    return runHere(this.env, args);
  }

  /**
   * Runs a command line at a terminal of its own; `dialogue` answers what is asked. What the terminal shows, with
   * colours.
   */
  async terminal(
    args: string[],
    options: { cols?: number; env?: Record<string, string>; dialogue?: [string, string][] } = {},
  ): Promise<{ code: number; screen: string }> {
    const dialogue = [...(options.dialogue ?? [])];
    const pty = spawnPty(process.execPath, [...vcctlCommand, ...args], {
      cols: options.cols ?? 80,
      rows: 30,
      env: { ...(this.env as Record<string, string>), TERM: 'xterm', ...options.env },
    });
    let screen = '';
    pty.onData((data) => {
      screen += data;
      const [next] = dialogue;
      if (next && screen.includes(next[0])) {
        dialogue.shift();
        pty.write(next[1]);
      }
    });
    const code = await new Promise<number>((done) => pty.onExit((e) => done(e.exitCode)));
    return { code, screen: screen.replaceAll('\r\n', '\n') };
  }
}
