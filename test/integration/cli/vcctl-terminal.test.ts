import { spawn } from 'node:child_process';
import { spawn as spawnPty } from 'node-pty';
import type { WebSocket } from 'ws';
import { FakeControlPlane } from './fake-control-plane';
import { vcctlCommand as command, fingerprint, vcctlSuite } from './vcctl-suite';

jest.setTimeout(60_000);

describe('vcctl against a server', () => {
  const suite = vcctlSuite();
  const { vcctl, loggedIn } = suite;
  let plane: FakeControlPlane;
  let env: NodeJS.ProcessEnv;
  beforeEach(() => {
    ({ plane, env } = suite.started());
  });

  describe('console', () => {
    const typed: Buffer[] = [];
    const control: string[] = [];
    beforeEach(async () => {
      typed.length = 0;
      control.length = 0;
      await loggedIn();
      plane.routes.set('POST /instances/web/actions/console', () => ({
        status: 201,
        body: { ticket: 'good', expiresIn: 60, path: '/api/v1/console?ticket=good' },
      }));
      plane.onConsole = (socket: WebSocket) => {
        socket.on('message', (data: Buffer, binary: boolean) => {
          if (!binary) return void control.push(data.toString());
          typed.push(data);
          socket.send(Buffer.concat([Buffer.from('echo:'), data]), { binary: true });
        });
      };
    });

    const until = async (text: () => string, wanted: string): Promise<void> => {
      const end = Date.now() + 20_000;
      while (!text().includes(wanted)) {
        if (Date.now() > end) throw new Error(`"${wanted}" did not come; there was: ${text()}`);
        await new Promise((done) => setTimeout(done, 20));
      }
    };

    it('joins a terminal raw, tells its size and changes of it, and leaves by Ctrl+] with the terminal as before', async () => {
      const line = ['stty -g; ', '"$@"; ', 'echo "code $?"; stty -g'].join('');
      const pty = spawnPty('/bin/sh', ['-c', line, 'sh', process.execPath, ...command, 'instance', 'console', 'web'], {
        cols: 90,
        rows: 30,
        env: env as Record<string, string>,
      });
      let screen = '';
      pty.onData((data) => (screen += data));
      const exited = new Promise<void>((done) => pty.onExit(() => done()));
      try {
        await until(() => screen, 'Ctrl+] leaves the console');
        pty.write('\u0003ls\r');
        await until(() => screen, 'ls');
        pty.resize(120, 40);
        await until(() => control.join(), '"cols":120');
        pty.write('\u001d');
        await until(() => screen, 'code 0');
        await exited;
      } finally {
        pty.kill();
      }
      expect(Buffer.concat(typed).toString()).toBe('\u0003ls\r');
      expect(control[0]).toBe('{"resize":{"cols":90,"rows":30}}');
      expect(control.at(-1)).toBe('{"resize":{"cols":120,"rows":40}}');
      const settings = screen.split(/\r?\n/).filter((l) => /^[0-9a-f]+(:[0-9a-f]+){5,}$/.test(l));
      expect(settings).toHaveLength(2);
      expect(settings[0]).toBe(settings[1]);
    });

    it('restores the terminal and fails when the server ends the console', async () => {
      plane.onConsole = (socket) => socket.close(1011, 'the host is silent');
      const pty = spawnPty(
        '/bin/sh',
        ['-c', '"$@"; echo "code $?"; stty -a', 'sh', process.execPath, ...command, 'instance', 'console', 'web'],
        { cols: 90, rows: 30, env: env as Record<string, string> },
      );
      let screen = '';
      pty.onData((data) => (screen += data));
      const exited = new Promise<void>((done) => pty.onExit(() => done()));
      await exited;
      expect(screen).toContain('the host is silent');
      expect(screen).toContain('code 1');
      expect(screen).toMatch(/ icanon/);
      expect(screen).toMatch(/ echo /);
    });

    it('pipes when there is no terminal', async () => {
      const child = spawn(process.execPath, [...command, 'instance', 'console', 'web'], {
        env,
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      let out = '';
      const echoed = new Promise<void>((done) =>
        child.stdout.on('data', (data: Buffer) => ((out += data.toString()), out.includes('echo:uptime\n') && done())),
      );
      const code = new Promise<number | null>((done) => child.on('exit', done));
      child.stdin.write('uptime\n');
      await echoed;
      child.stdin.end();
      expect(await code).toBe(0);
      expect(out).toBe('echo:uptime\n');
    });

    it('says why a ticket is refused', async () => {
      plane.routes.set('POST /instances/web/actions/console', () => ({
        status: 201,
        body: { ticket: 'bad', expiresIn: 60, path: '/api/v1/console?ticket=bad' },
      }));
      expect(await vcctl(['instance', 'console', 'web'])).toMatchObject({
        code: 3,
        err: expect.stringContaining('invalid_ticket'),
      });
    });
  });

  it('asks on a terminal: for an unknown certificate with its fingerprint, for the password without echo, before a delete', async () => {
    plane.routes.set('DELETE /flavors/tiny', () => ({ status: 204 }));
    const run = async (args: string[], dialogue: [string, string][]): Promise<string> => {
      const pty = spawnPty(process.execPath, [...command, ...args], {
        cols: 200,
        rows: 30,
        env: env as Record<string, string>,
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
      return `${screen}\ncode ${code}`;
    };
    const refused = await run(['login', plane.url, '--user', 'admin'], [['Trust it', 'n\r']]);
    expect(refused).toContain(fingerprint(plane.pki.ca));
    expect(refused).toContain('code 1');
    expect(plane.requests).toEqual([]);
    const accepted = await run(
      ['login', plane.url, '--user', 'admin'],
      [
        ['Trust it', 'y\r'],
        ['Password: ', 'right passwort\u007fd\r'],
      ],
    );
    expect(accepted).toContain('Logged in to');
    expect(accepted).not.toContain('right passwor');
    expect(await run(['flavor', 'delete', 'tiny'], [['Delete tiny?', '\r']])).toContain('code 0');
    expect(plane.requests.some((r) => r.method === 'DELETE')).toBe(false);
    expect(await run(['flavor', 'delete', 'tiny'], [['Delete tiny?', 'y\r']])).toContain('flavor tiny deleted');
  });
});
