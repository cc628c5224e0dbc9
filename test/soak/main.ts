/**
 * Creates, boots, stops and deletes instances over and over, and sees whether the agent of their host stays what it was:
 *
 *     npm run soak                          10 cycles of real guests on QEMU, 100 of simulated ones
 *     npm run soak -- --cycles 200          200 and 2,000
 *     npm run soak -- --only simulated      only those
 *
 * Needs `npm run build`. Names what fails; the last line is `soak: N passed, N failed, N skipped`.
 */
import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { Soak, type SoakPlan } from './soak';

const { values } = parseArgs({
  options: { cycles: { type: 'string', default: '10' }, only: { type: 'string', default: '' } },
});
const cycles = Number(values.cycles);

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Simulated guests boot at once: ten times as many take no longer. */
const plans: SoakPlan[] = [
  { vmm: 'qemu', cycles, lanes: 2 },
  { vmm: 'simulated', cycles: 10 * cycles, lanes: 4 },
];

const main = async (): Promise<number> => {
  if (!Number.isInteger(cycles) || cycles < 3) throw new Error('--cycles takes a whole number from 3 on');
  const chosen = plans.filter(({ vmm }) => vmm.includes(values.only));
  if (chosen.length === 0) throw new Error(`--only takes ${plans.map(({ vmm }) => vmm).join(' or ')}`);
  let passed = 0;
  let failed = 0;
  const fail = (name: string, fault: string): void => {
    failed += 1;
    print(`FAIL ${name}`);
    for (const line of fault.split('\n')) print(`  ${line}`);
  };
  for (const plan of chosen) {
    const started = Date.now();
    try {
      for (const { name, fault } of await Soak.run(plan, (text) => print(`  ${plan.vmm}: ${text}`))) {
        if (fault === '') passed += 1;
        else fail(name, fault);
      }
    } catch (error) {
      fail(`${plan.vmm}: ${plan.cycles} cycles`, error instanceof Error ? error.message : String(error));
    }
    print(`  ${plan.vmm}: ${((Date.now() - started) / 1000).toFixed(0)} s`);
  }
  print(`soak: ${passed} passed, ${failed} failed, 0 skipped`);
  return failed === 0 ? 0 : 1;
};

void main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`soak: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
