/**
 * Preloaded into a process (`node --require`): its wall clock, and only that, is off by the milliseconds in the file
 * named by VC_STACK_TEST_CLOCK_FILE. SIGUSR2 has the file read again; then `<file>.seen` holds what it said. Timers and
 * `performance.now()` go on as before, as on a real step.
 */
const { readFileSync, writeFileSync } = require('node:fs');

const file = process.env.VC_STACK_TEST_CLOCK_FILE;
const RealDate = Date;
let offset = 0;

const now = () => RealDate.now() + offset;
const read = () => {
  offset = Number(readFileSync(file, 'utf8'));
  writeFileSync(`${file}.seen`, String(offset));
};

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  apply: () => new RealDate(now()).toString(),
  get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
});
read();
process.on('SIGUSR2', read);
