import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from './repository';

/**
 * Holds what both sides of a cloud say to each other against a release (`test/compat/tap.js`): what its agents did not
 * know, and what its management could not read.
 */
export class OlderSide {
  private readonly directory = mkdtempSync(join(tmpdir(), 'vcs-tap-'));
  private readonly report = join(this.directory, 'report');
  readonly env: Record<string, string>;

  constructor(release: string) {
    this.env = {
      NODE_OPTIONS: `--require ${join(repositoryRoot, 'test/compat/tap.js')}`,
      WIRE_TAP_AS: release,
      WIRE_TAP_REPORT: this.report,
    };
  }

  /** What was looked at, each kind once, and what did not fit. */
  findings(): { checked: string[]; misfits: string[] } {
    const lines = readFileSync(this.report, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { what: string; misfit?: string });
    return {
      checked: [...new Set(lines.map(({ what }) => what))].sort(),
      misfits: lines.flatMap(({ what, misfit }) =>
        misfit === undefined ? [] : misfit.split(', data').map((one, n) => `${what}: ${n === 0 ? '' : 'data'}${one}`),
      ),
    };
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}
