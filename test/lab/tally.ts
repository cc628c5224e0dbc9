const print = (line: string): void => void process.stdout.write(`${line}\n`);

export interface Failure {
  name: string;
  message: string;
}

/** What came of everything, told as it comes. `print` of the end is what `bin/check` counts. */
export class Tally {
  private passed = 0;
  private failed = 0;
  private skipped = 0;

  /** One thing to try; its error is its failure. Says whether it held. */
  async try(name: string, run: () => Promise<void>): Promise<boolean> {
    const started = Date.now();
    try {
      await run();
      this.passed += 1;
      print(`ok   ${name} (${seconds(started)})`);
      return true;
    } catch (error) {
      this.fail({
        name: `${name} (${seconds(started)})`,
        message: error instanceof Error ? error.message : String(error),
      });
      return false;
    }
  }

  take(suite: string, took: number, passed: number, failed: readonly Failure[], skipped: readonly string[]): void {
    this.passed += passed;
    print(`ok   ${suite}: ${passed} tests in ${took.toFixed(0)} s`);
    for (const { name, message } of failed) this.fail({ name: `${suite}: ${name}`, message });
    for (const name of skipped) this.skip(`${suite}: ${name}`);
  }

  skip(what: string): void {
    this.skipped += 1;
    print(`skipped: ${what}`);
  }

  /** The last line, and the exit code. */
  end(): number {
    print(`lab: ${this.passed} passed, ${this.failed} failed, ${this.skipped} skipped`);
    return this.failed === 0 ? 0 : 1;
  }

  private fail({ name, message }: Failure): void {
    this.failed += 1;
    print(`FAIL ${name}`);
    for (const line of message.split('\n')) print(`  ${line}`);
  }
}

const seconds = (since: number): string => `${((Date.now() - since) / 1000).toFixed(0)} s`;
