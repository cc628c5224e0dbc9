import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { freePort } from './free-port';
import { repositoryRoot } from './repository';
import { waitFor } from './wait-for';

/** `npm run dev` in front of a running management. */
export class DevServer {
  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {}

  static async start(management: string): Promise<DevServer> {
    const port = String(await freePort());
    const vite = join(repositoryRoot, 'node_modules/vite/bin/vite.js');
    const child = spawn(process.execPath, [vite, 'web', '--host', '127.0.0.1', '--port', port, '--strictPort'], {
      cwd: repositoryRoot,
      env: { ...process.env, VC_STACK_URL: management },
      stdio: 'ignore',
    });
    const server = new DevServer(child, `http://127.0.0.1:${port}`);
    await waitFor('the development server', () =>
      fetch(`${server.url}/console/`).then(
        (answer) => answer.ok,
        () => false,
      ),
    );
    return server;
  }

  async close(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const over = once(this.child, 'exit');
    this.child.kill();
    await over;
  }
}
