import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { ApiFailure } from './api-failure';
import { osError } from './serial-port';
import type { SimulatedVmm } from './simulated-vmm';

const heading = 'The VM could not be coredumped';
const scheme = 'file://';
const headerBytes = 64;
const segmentBytes = 56;
/** Between the headers and the memory: where the original has its notes. */
const noteBytes = 0x1000;

/** An ELF core of x86-64 with one segment of notes, which are empty, and one of so much memory at address 0. */
const headers = (memoryBytes: number): { bytes: Buffer; memoryAt: number } => {
  const notesAt = headerBytes + 2 * segmentBytes;
  const memoryAt = notesAt + noteBytes;
  const bytes = Buffer.alloc(notesAt);
  bytes.write('\u007fELF', 'latin1');
  // 64 bits, little end first, version 1.
  bytes.set([2, 1, 1], 4);
  for (const [value, at] of [
    [4, 16],
    [62, 18],
    [headerBytes, 52],
    [segmentBytes, 54],
    [2, 56],
  ] as const)
    bytes.writeUInt16LE(value, at);
  bytes.writeUInt32LE(1, 20);
  bytes.writeBigUInt64LE(BigInt(headerBytes), 32);
  for (const [index, [type, offset, size]] of [
    [4, notesAt, noteBytes] as const,
    [1, memoryAt, memoryBytes] as const,
  ].entries()) {
    const at = headerBytes + index * segmentBytes;
    bytes.writeUInt32LE(type, at);
    for (const [value, behind] of [
      [offset, 8],
      [size, 32],
      [size, 40],
    ] as const)
      bytes.writeBigUInt64LE(BigInt(value), at + behind);
  }
  return { bytes, memoryAt };
};

/**
 * vm.coredump, in builds for debugging: into a new file. A VM that runs is paused for it and goes on afterwards; when it
 * fails in between, it stays paused. There is no guest, so its memory is all zeros.
 */
export const coreDump = (vmm: SimulatedVmm, url: string): void => {
  const vm = vmm.running(heading);
  vmm.events.emit('vm', 'coredumping');
  const fail = (...chain: string[]): ApiFailure =>
    new ApiFailure('internal', heading, 'Error coredumping VM', 'coredump', ...chain);
  const running = vm.state === 'Running';
  if (running) vm.pause(vmm.events);
  if (!url.startsWith(scheme)) throw fail(`Could not extract path from URL: ${url}`);
  let file: number;
  try {
    file = openSync(url.slice(scheme.length), 'wx+', 0o644);
  } catch (error) {
    throw fail(osError(error as NodeJS.ErrnoException));
  }
  try {
    const { bytes, memoryAt } = headers(vm.presentRam);
    writeSync(file, bytes);
    ftruncateSync(file, memoryAt + vm.presentRam);
  } finally {
    closeSync(file);
  }
  if (running) vm.resume(vmm.events);
};
