import { execFile } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { repositoryRoot } from '../../test/support/repository';
import type { Figure } from '../harness/figure';
import type { Lab } from '../harness/lab';

const run = promisify(execFile);
const directory = join(repositoryRoot, 'web/dist');

/** As the server sends it to a browser that takes what it has: brotli, else gzip, else as it is. */
const transferred = (file: string): number => {
  const found = ['.br', '.gz', ''].map((suffix) => file + suffix).find((candidate) => existsSync(candidate));
  if (found === undefined) throw new Error(`${file} is not there`);
  return statSync(found).size;
};

const gzipped = (path: string): number => gzipSync(readFileSync(join(repositoryRoot, 'node_modules', path))).length;

/** `index.html` and what it names; chunks that pages load later do not count. */
export const consoleSize: Figure = {
  name: "console's first load",
  limitMinutes: 5,
  async run(lab: Lab) {
    const index = join(directory, 'index.html');
    if (!existsSync(index)) {
      lab.say('building the console');
      await run('npm', ['run', '--silent', 'build:web'], { cwd: repositoryRoot });
    }
    const named = [...readFileSync(index, 'utf8').matchAll(/(?:src|href)="\/console\/([^"]+)"/g)].map((match) =>
      join(directory, match[1] ?? ''),
    );
    const ours = [index, ...new Set(named)].reduce((sum, file) => sum + transferred(file), 0);
    const reference = [
      'react/cjs/react.production.js',
      'react-dom/cjs/react-dom.production.js',
      'react-dom/cjs/react-dom-client.production.js',
      'scheduler/cjs/scheduler.production.js',
    ].reduce((sum, file) => sum + gzipped(file), 0);
    return [
      {
        figure: "console's first load, compressed",
        ours: ours / 1000,
        reference: reference / 1000,
        unit: 'kB',
        note: 'aim: at most 350 kB; reference: React and React DOM alone, gzip',
      },
    ];
  },
};
