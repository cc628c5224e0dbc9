import { cases, type CaseNumber } from './cases';
import { needs, type Need } from './subject';
import type { VmmLab } from './vmm-lab';

interface CaseOptions {
  /** A case in several tests names what each of them looks at. */
  part?: string;
  /** Without these of the subject the test is skipped, by name. */
  needs?: readonly Need[];
  /** The case starts its process itself. */
  opens?: boolean;
}

/**
 * Registers the cases of one subject with the test runner, and knows whether all of them were. Each starts with a fresh
 * process.
 */
export class Casebook {
  private readonly written = new Set<CaseNumber>();

  constructor(private readonly lab: VmmLab) {}

  add(number: CaseNumber, run: () => Promise<void>, options: CaseOptions = {}): void {
    this.written.add(number);
    const name = `${number}: ${cases[number]}${options.part === undefined ? '' : ` (${options.part})`}`;
    const lacking = (options.needs ?? []).filter((need) => !this.lab.subject.can.has(need));
    if (lacking.length > 0) {
      it.skip(`${name}: needs ${lacking.map((need) => needs[need]).join(' and ')}`, run);
      return;
    }
    it(name, async () => {
      if (options.opens !== true) await this.lab.open();
      await run();
    });
  }

  /** Throws if a case of the list has no test. */
  complete(): void {
    const missing = Object.keys(cases).filter((number) => !this.written.has(Number(number) as CaseNumber));
    if (missing.length > 0) throw new Error(`no test for the cases ${missing.join(', ')}`);
  }
}
