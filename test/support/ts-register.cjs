/** Lets a plain `node -r` run TypeScript sources: for processes that a test starts to kill or freeze them. Compiled text is kept between runs. */
const { createHash } = require('node:crypto');
const { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { transformSync, version } = require('@swc/core');

const cache = join(__dirname, '../../node_modules/.cache/ts-register');
mkdirSync(cache, { recursive: true });
const options = JSON.parse(readFileSync(join(__dirname, '../../.swcrc'), 'utf8'));

require.extensions['.ts'] = (module, filename) => {
  const source = readFileSync(filename, 'utf8');
  const kept = join(cache, `${createHash('sha256').update(version).update(filename).update(source).digest('hex')}.js`);
  if (!existsSync(kept)) {
    const { code } = transformSync(source, { ...options, swcrc: false, sourceMaps: 'inline', filename });
    writeFileSync(`${kept}.${process.pid}`, code);
    renameSync(`${kept}.${process.pid}`, kept);
  }
  module._compile(readFileSync(kept, 'utf8'), filename);
};
require('reflect-metadata');
