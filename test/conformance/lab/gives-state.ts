import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { plainGuest } from './plain-guest';

/** A call by a program of its own: what is asked here is asked before there are tests. */
const call = (socket: string, endpoint: string, body?: unknown): string =>
  spawnSync(
    process.execPath,
    [
      '-e',
      `const r = require('node:http').request({ socketPath: process.argv[1], method: 'PUT', path: '/api/v1/' + process.argv[2], headers: process.argv[3] ? { 'Content-Length': process.argv[3].length } : {} }, (a) => console.log(a.statusCode)); r.on('error', () => undefined); r.end(process.argv[3] || undefined);`,
      socket,
      endpoint,
      body === undefined ? '' : JSON.stringify(body),
    ],
    { encoding: 'utf8', timeout: 20_000 },
  ).stdout.trim();

/**
 * Whether KVM lets a program read the state of its vCPUs, which snapshots and migrations need and an emulated KVM does
 * not always give. Blocks until it is known, at most twenty seconds.
 */
export const givesState = (binary: string): boolean => {
  const directory = mkdtempSync('/tmp/t-vmm-state-');
  const kernel = join(directory, 'guest');
  const socket = join(directory, 'api.sock');
  writeFileSync(kernel, plainGuest());
  const child = spawn(
    binary,
    ['--api-socket', socket, '--kernel', kernel, '--serial', 'null', '--console', 'off', '--memory', 'size=64M'],
    { stdio: 'ignore' },
  );
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const end = Date.now() + 20_000;
  while (!existsSync(socket) && Date.now() < end) Atomics.wait(pause, 0, 0, 50);
  // The socket may be there before the VM runs.
  while (call(socket, 'vm.pause') !== '204' && Date.now() < end) Atomics.wait(pause, 0, 0, 50);
  const given = call(socket, 'vm.snapshot', { destination_url: `file://${directory}` }) === '204';
  child.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
  return given;
};
