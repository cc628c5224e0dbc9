/**
 * Lets a child process of a test run TypeScript sources directly: `node -r <this file> <file>.ts`. Compiles as the
 * tests do, each text once.
 */
require('reflect-metadata');
const { createHash } = require('node:crypto');
const { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const Module = require('node:module');
const { dirname, join, resolve } = require('node:path');
const { version } = require('@swc/core/package.json');

const root = resolve(__dirname, '../..');
const options = JSON.parse(readFileSync(join(__dirname, 'swc.json'), 'utf8'));
const cache = join(root, 'node_modules/.cache/ts-register');
require.extensions['.ts'] = (module, filename) => {
  const source = readFileSync(filename, 'utf8');
  const kept = join(
    cache,
    `${createHash('sha256')
      .update(`${version}\n${JSON.stringify(options)}\n${filename}\n${source}`)
      .digest('hex')}.js`,
  );
  if (!existsSync(kept)) {
    // Only here: the compiler wants to write on its way in, which nothing in a sandbox can.
    const { code } = require('@swc/core').transformSync(source, { ...options, swcrc: false, filename });
    mkdirSync(cache, { recursive: true });
    writeFileSync(`${kept}.${process.pid}`, code);
    renameSync(`${kept}.${process.pid}`, kept);
  }
  module._compile(readFileSync(kept, 'utf8'), filename);
};
const resolveFilename = Module._resolveFilename;
// Sources name compiled files in dynamic imports (`./x.js`).
Module._resolveFilename = function (request, parent, ...rest) {
  if (request.startsWith('.') && request.endsWith('.js') && parent?.filename) {
    const source = join(dirname(parent.filename), `${request.slice(0, -3)}.ts`);
    if (existsSync(source)) return source;
  }
  return resolveFilename.call(this, request, parent, ...rest);
};
