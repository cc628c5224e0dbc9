const { execFileSync } = require('node:child_process');
const { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } = require('node:fs');
const { join, resolve } = require('node:path');

it('what was compiled of a source that is gone leaves dist before a build, and nothing else', () => {
  const root = mkdtempSync('/tmp/vc-dist-');
  try {
    for (const folder of ['src/a', 'dist/src/a', 'web/dist']) mkdirSync(join(root, folder), { recursive: true });
    const files = [
      'src/a/kept.ts',
      'dist/src/a/kept.js',
      'dist/src/a/kept.js.map',
      'dist/.tsbuildinfo',
      'web/dist/index.js',
    ];
    const stale = ['dist/src/a/moved.js', 'dist/src/a/moved.js.map'];
    for (const file of [...files, ...stale]) writeFileSync(join(root, file), '');
    execFileSync(process.execPath, [resolve(__dirname, '../../tools/clear-dist.mjs'), root]);
    const left = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(left.map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1)).sort()).toEqual(files.sort());
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
