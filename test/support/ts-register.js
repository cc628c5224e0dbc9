/** Lets a child process of a test run TypeScript sources directly: `node -r <this file> <file>.ts`. Compiles as the tests do. */
require('reflect-metadata');
const { readFileSync, existsSync } = require('node:fs');
const Module = require('node:module');
const { dirname, join, resolve } = require('node:path');
const { transformSync } = require('@swc/core');

const root = resolve(__dirname, '../..');
const options = JSON.parse(readFileSync(join(root, '.swcrc'), 'utf8'));
require.extensions['.ts'] = (module, filename) => {
  const { code } = transformSync(readFileSync(filename, 'utf8'), { ...options, swcrc: false, filename });
  module._compile(code, filename);
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
