import { spawn } from 'node:child_process';

/** Holds a write lock on a file from another process, as a second VMM would. Resolves with a way to let go. */
export const lockFile = (path: string): Promise<() => Promise<void>> =>
  new Promise((resolve, reject) => {
    const script =
      'import fcntl,os,struct,sys\nf=os.open(sys.argv[1],os.O_RDWR)\nfcntl.fcntl(f,37,struct.pack("hhqqi4x",fcntl.F_WRLCK,0,0,0,0))\nprint("locked",flush=True)\nsys.stdin.read()';
    const child = spawn('python3', ['-c', script, path], { stdio: ['pipe', 'pipe', 'inherit'] });
    const gone = new Promise<void>((done) => child.once('exit', () => done()));
    child.once('error', reject);
    child.stdout.once('data', () =>
      resolve(async () => {
        child.stdin.end();
        await gone;
      }),
    );
  });
