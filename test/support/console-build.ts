import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from './repository';

/**
 * Builds the console with one more feature: its folder, and its line in the list of all. Gives the folder of the build,
 * which is the caller's to remove.
 * @param folder of the feature, called as its manifest's export
 */
export const buildConsoleWith = (folder: string, name: string): string => {
  mkdirSync(join(repositoryRoot, '.cache'), { recursive: true });
  // Inside the repository, so that packages are found; the console takes words and schemas from the sources beside it.
  const directory = mkdtempSync(join(repositoryRoot, '.cache/console-build-'));
  try {
    symlinkSync(join(repositoryRoot, 'src'), join(directory, 'src'));
    const web = join(directory, 'web');
    const source = join(repositoryRoot, 'web');
    for (const entry of readdirSync(source))
      if (entry !== 'dist') cpSync(join(source, entry), join(web, entry), { recursive: true });
    cpSync(folder, join(web, 'src/features', name), { recursive: true });
    const list = join(web, 'src/features/all-features.ts');
    const before = readFileSync(list, 'utf8');
    const after = before
      .replace('  account,\n', `  account,\n  ${name},\n`)
      .replace('import { account }', `import { ${name} } from './${name}/manifest';\nimport { account }`);
    if (after.split('\n').length !== before.split('\n').length + 2)
      throw new Error('the list of features is of another form than this expects');
    writeFileSync(list, after);
    execFileSync(process.execPath, [join(repositoryRoot, 'node_modules/vite/bin/vite.js'), 'build', web], {
      cwd: repositoryRoot,
      stdio: 'pipe',
      env: { ...process.env, NODE_ENV: 'production' },
    });
    const build = mkdtempSync(join(tmpdir(), 'vcs-console-'));
    cpSync(join(web, 'dist'), build, { recursive: true });
    return build;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
};
