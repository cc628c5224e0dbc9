/**
 * Removes from `dist/` what was compiled of sources that are gone or have moved: the compiler leaves it there, where a
 * folder that is read as a whole (`migrations/`) would load it. What still has its source stays, for the next build to
 * be quick.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(process.argv[2] ?? join(import.meta.dirname, '..'));
const dist = join(root, 'dist');
const compiled = /\.js(\.map)?$/;

if (existsSync(dist))
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const source = join(root, path.slice(dist.length).replace(compiled, '.ts'));
    if (entry.isFile() && compiled.test(entry.name) && !existsSync(source)) rmSync(path);
  }
