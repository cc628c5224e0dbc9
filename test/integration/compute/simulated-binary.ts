import { transformFileSync, type Options } from '@swc/core';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SimulationKnobs } from '../../../src/modules/compute/node/drivers/simulated-vmm/knobs';

const options = JSON.parse(readFileSync(join(__dirname, '../../support/swc.json'), 'utf8')) as Options;
const source = join(__dirname, '../../../src/modules/compute/node/drivers/simulated-vmm');

/** The simulated VMM as a program of its own, in a temporary folder. */
export class SimulatedBinary {
  private readonly directory = mkdtempSync('/tmp/t-vmm-bin-');

  constructor() {
    // VMMs are not root.
    chmodSync(this.directory, 0o755);
    const out = join(this.directory, 'js');
    mkdirSync(out);
    for (const name of readdirSync(source)) {
      if (!name.endsWith('.ts') || name.endsWith('.test.ts')) continue;
      writeFileSync(
        join(out, name.replace(/\.ts$/, '.js')),
        transformFileSync(join(source, name), { ...options, swcrc: false }).code,
      );
    }
  }

  /** Path of a program that takes Cloud Hypervisor's command line. */
  program(name: string, knobs: Partial<SimulationKnobs> = {}): string {
    const path = join(this.directory, name);
    const script = `#!${process.execPath}\nprocess.env.SIMULATED_VMM_KNOBS = ${JSON.stringify(JSON.stringify(knobs))};\nrequire(${JSON.stringify(join(this.directory, 'js', 'main.js'))});\n`;
    writeFileSync(path, script);
    chmodSync(path, 0o755);
    return path;
  }

  /** A file of the same folder, for firmware and the like. */
  file(name: string, content: string | Buffer = name): string {
    const path = join(this.directory, name);
    writeFileSync(path, content);
    return path;
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}
