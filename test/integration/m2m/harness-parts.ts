import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { Config } from '../../../src/core/config/config';
import { coreConfigSchema } from '../../../src/core/config/core-config';
import { Logging } from '../../../src/core/telemetry/logging';
import { hostConfigSchema } from '../../../src/modules/host/contract/host.config';
import { InventorySource } from '../../../src/modules/host/contract/host.ports';

export const logging = new Logging(pino({ level: process.env['TEST_LOG'] ?? 'silent' }));

/** Resolves with the first value that is not undefined or false; fails after `timeoutMs`. */
export const eventually = async <T>(
  what: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  timeoutMs = 10_000,
): Promise<T> => {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const value = await probe();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > end) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};

export const tempDir = (): { path: string; remove: () => void } => {
  const path = mkdtempSync(join(tmpdir(), 'vc-m2m-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
};

export interface Tuning {
  m2m?: Record<string, number>;
  host?: Record<string, number>;
}

export const configOf = (
  stateDir: string,
  tuning: Tuning,
  compute: Record<string, unknown> = {},
  nodePort = 0,
): Config =>
  new Config(
    coreConfigSchema.parse({
      stateDir,
      management: { listen: '127.0.0.1', port: 0, nodePort, address: '127.0.0.1' },
      compute: { listen: '127.0.0.1', port: 0, ...compute },
      m2m: tuning.m2m ?? {},
    }),
    { host: hostConfigSchema.parse(tuning.host ?? {}) },
  );

/** A part of the inventory with a fixed answer. */
export class FixedInventory extends InventorySource {
  constructor(
    readonly part: 'vmms' | 'pools',
    private readonly answer: unknown,
  ) {
    super();
  }
  async collect(): Promise<unknown> {
    return this.answer;
  }
}

export const goodInventory = (): InventorySource[] => [
  new FixedInventory('vmms', [
    { kind: 'simulated', version: '1', accel: 'none', usable: true, reason: '', capabilities: [] },
  ]),
  new FixedInventory('pools', [{ name: 'local', driver: 'local', totalBytes: 10e9, freeBytes: 5e9 }]),
];
