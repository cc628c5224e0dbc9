import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';

/** Node opens no terminals: socat(1) does, and ends with its input. */
export class Pty {
  private constructor(
    /** Where a client opens it. */
    readonly path: string,
    private readonly child: ChildProcessWithoutNullStreams,
  ) {}

  /** Throws what the operating system said. */
  static open(input: (text: string) => void): Promise<Pty> {
    return new Promise((resolve, reject) => {
      const child = spawn('socat', ['-d', '-d', '-', 'pty,raw,echo=0']);
      let told = '';
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`socat ended with ${code}: ${told}`)));
      child.stdin.on('error', () => undefined);
      child.stdout.setEncoding('utf8').on('data', input);
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        told = (told + text).slice(-toldChars);
        const path = /PTY is (\/dev\/pts\/\d+)/.exec(told)?.[1];
        if (path !== undefined) resolve(new Pty(path, child));
      });
    });
  }

  write(text: string): void {
    this.child.stdin.write(text);
  }

  close(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return Promise.resolve();
    const gone = new Promise<void>((resolve) => this.child.once('close', () => resolve()));
    this.child.kill('SIGKILL');
    return gone;
  }
}

/** What is kept of socat's messages. */
const toldChars = 2_000;
