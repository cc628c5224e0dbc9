/// <reference path="../../node_modules/node-pty/node-pty.d.ts" />

/** The package is installed under this name, but its types declare its own. */
declare module 'node-pty' {
  export * from '@lydell/node-pty';
}
