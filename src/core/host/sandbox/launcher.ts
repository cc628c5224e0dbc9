import { spawn, type ChildProcess } from 'node:child_process';
import { extname, join } from 'node:path';
import { LaunchedChain } from './launched-chain';
import { launcherNews, type Chain, type LauncherOrder } from './launcher-messages';

const script = join(__dirname, 'launcher-child');
/** It keeps nothing: a small heap is a small process, and those fork quickly. */
const smallHeap = ['--max-semi-space-size=1', '--max-old-space-size=64'];

/**
 * Starts programs by way of a small process of ours. A fork copies the page tables of who forks, and stops it meanwhile:
 * 3 to 5 ms for an agent of some hundred MiB, 1 ms for that process. It ends with us, and with it what was held back;
 * what runs goes on.
 */
class Launcher {
  private readonly child: ChildProcess;
  private readonly chains = new Map<number, LaunchedChain>();
  private lastId = 0;
  private awaited = 0;

  constructor(whenGone: () => void) {
    const inherited = process.execArgv.filter((arg) => !arg.startsWith('--inspect'));
    this.child = spawn(process.execPath, [...inherited, ...smallHeap, `${script}${extname(__filename)}`], {
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      cwd: '/',
      env: { PATH: process.env['PATH'] ?? '' },
    });
    this.child.unref();
    this.child.channel?.unref();
    this.child.on('message', (message) => {
      const news = launcherNews.parse(message);
      if (this.chains.get(news.id)?.heard(news)) this.chains.delete(news.id);
    });
    const lost = (): void => {
      whenGone();
      for (const chain of this.chains.values()) chain.lost();
      this.chains.clear();
    };
    this.child.once('error', lost);
    this.child.once('disconnect', lost);
  }

  start(what: Chain): LaunchedChain {
    const id = (this.lastId += 1);
    const chain = new LaunchedChain((then) => this.tell({ id, then }));
    this.chains.set(id, chain);
    this.tell({ id, start: what });
    void this.stayFor(chain.program);
    return chain;
  }

  /** When it is gone, the chains hear of that by its disconnection. */
  private tell(order: LauncherOrder): void {
    if (this.child.connected) this.child.send(order, () => undefined);
  }

  /** Keeps this process alive until the promise is settled, which the launcher by itself does not. */
  private async stayFor(promise: Promise<unknown>): Promise<void> {
    if ((this.awaited += 1) === 1) this.child.channel?.ref();
    await promise.catch(() => undefined);
    if ((this.awaited -= 1) === 0) this.child.channel?.unref();
  }
}

let running: Launcher | undefined;

/** Starts a chain of programs by this process's launcher, which is started first where there is none. */
export const launch = (chain: Chain): LaunchedChain =>
  (running ??= new Launcher(() => (running = undefined))).start(chain);
