import 'reflect-metadata';
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Scenarios } from '../../src/core/testing/scenario';
import { GroupRun, remaining, type Reference, type Verdict } from './group-run';
import { bootable, Lane } from './lane';
import { keepBusy } from './load';
import { leftovers, sightOf, takenBack, type Sight } from './observation';
import { faults, faultTitles, groupsOf, planOf, type WorkflowShape } from './plan';
import { loadScenarios } from './scenarios';

const { values } = parseArgs({
  options: {
    long: { type: 'boolean', default: false },
    /** Only cases whose name matches this expression. */
    only: { type: 'string' },
    /** Every case with a fault of its own. */
    alone: { type: 'boolean', default: false },
    lanes: { type: 'string', default: '3' },
    /** Beside processes that keep every core and the disk busy. */
    busy: { type: 'boolean', default: false },
  },
});

/** After a case has failed there is no more to learn from the same fault in hundreds of others. */
const failuresAtMost = 40;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Ends what a killed run would leave: servers that are no children of ours, frozen workers, files. */
const guard = (directory: string): void => {
  const script = `
    while [ -d "/proc/$2" ]; do sleep 1; done
    for pid in $(grep -lsa -- "$1/" /proc/[0-9]*/environ /proc/[0-9]*/cmdline | cut -d/ -f3 | sort -u); do
      [ "$pid" = "$$" ] || kill -KILL "$pid" 2>/dev/null
    done
    [ -n "$VC_STACK_TEST_KEEP" ] || rm -rf "$1"
  `;
  spawn('/bin/sh', ['-c', script, 'sh', directory, String(process.pid)], { detached: true, stdio: 'ignore' }).unref();
};

/**
 * Where images are imported from: every path is another small disk, sent with its close at once, as hardly a client
 * bears it.
 */
const imageServer = async (): Promise<{ server: Server; url: string }> => {
  const server = createServer((socket) => {
    socket
      .on('error', () => undefined)
      .once('data', (request) => {
        const path = request.toString('latin1').split(' ')[1] ?? '';
        const bytes = bootable([...path].reduce((sum, c) => (sum * 31 + c.charCodeAt(0)) >>> 0, 7));
        socket.end(
          Buffer.concat([
            Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes.length}\r\nConnection: close\r\n\r\n`),
            bytes,
          ]),
        );
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
};

/** One undisturbed run to the end, or with its last step failing; what there is then. */
const undisturbed = async (
  lane: Lane,
  scenarios: Scenarios,
  type: string,
  fails: boolean,
): Promise<{ sight: Sight | undefined; verdict: Verdict }> => {
  const name = `undisturbed ${type}${fails ? ', its last step fails' : ''}`;
  const faults: string[] = [];
  const scenario = scenarios[type];
  if (!scenario) return { sight: undefined, verdict: { name, faults: [`no scenario for ${type}`] } };
  try {
    const { survivor } = lane;
    const before = await leftovers(lane);
    survivor.send({ claim: true });
    const prepared = await scenario.prepare(lane);
    await survivor.whenIdle(30_000);
    survivor.send({ claim: false });
    const { taskId, subject } = await scenario.start(lane, prepared);
    survivor.send({ claim: true, ...(fails && { failing: [taskId] }) });
    await lane.kick();
    const state = await lane.settled(taskId);
    if (state !== (fails ? 'failed' : 'succeeded')) faults.push(`the task is ${state}`);
    await survivor.whenIdle(30_000);
    // Hosts report by heartbeat what they have; two of them and it is settled.
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    const sight = await sightOf(lane, scenario, subject);
    faults.push(...(await takenBack(lane, taskId, subject, type)));
    await scenario.cleanUp(lane, subject);
    for (const line of await remaining(lane, before)) faults.push(`left: ${line}`);
    return { sight, verdict: { name, faults } };
  } catch (error) {
    return {
      sight: undefined,
      verdict: { name, faults: [...faults, error instanceof Error ? error.message : String(error)] },
    };
  }
};

class Count {
  passed = 0;
  failed = 0;
  skipped = 0;
  private done = 0;

  take({ name, faults }: Verdict, note = ''): void {
    this.done += 1;
    if (faults.length === 0) {
      this.passed += 1;
      if (process.env['CHAOS_VERBOSE'] !== undefined) print(`ok   ${name}${note}`);
      return;
    }
    this.failed += 1;
    print(`FAIL ${name}${note}`);
    for (const fault of faults) print(`       ${fault}`);
  }

  skip(count: number, why: string): void {
    this.skipped += count;
    print(`skipped: ${why}`);
  }
}

const newest = (workflows: readonly WorkflowShape[]): WorkflowShape[] =>
  workflows.filter((w) => !workflows.some((other) => other.type === w.type && other.version > w.version));

const main = async (): Promise<number> => {
  const count = new Count();
  const scenarios = await loadScenarios();
  const directory = mkdtempSync('/tmp/vcx-');
  chmodSync(directory, 0o755);
  guard(directory);
  const { server, url } = await imageServer();
  const lanes = Array.from({ length: Math.max(1, Number(values.lanes)) }, (_, i) => {
    const own = join(directory, String(i));
    mkdirSync(own);
    return new Lane(own, url);
  });
  let failed = true;
  let relax = (): void => undefined;
  try {
    await Promise.all(lanes.map((lane) => lane.start()));
    if (values.busy) relax = keepBusy(directory);
    const registered = lanes[0]?.survivor.workflows ?? [];
    const workflows = newest(registered);
    for (const { type, version } of registered.filter((w) => !workflows.includes(w)))
      count.skip(1, `${type} version ${version}: nothing starts it any more`);
    for (const { type } of workflows)
      if (!scenarios[type])
        count.take({ name: type, faults: [`no scenario for ${type}: its module's manifest must have one`] });

    const references = new Map<string, Reference>();
    const known = workflows.filter(
      ({ type }) =>
        scenarios[type] &&
        (values.only === undefined ||
          planOf([{ type, version: 1, steps: workflows.find((w) => w.type === type)?.steps ?? [] }], true).cases.some(
            (c) => new RegExp(values.only ?? '').test(c.name),
          )),
    );
    const queue = [...known];
    await Promise.all(
      lanes.map(async (lane) => {
        for (let next = queue.shift(); next; next = queue.shift()) {
          const good = await undisturbed(lane, scenarios, next.type, false);
          const bad = await undisturbed(lane, scenarios, next.type, true);
          count.take(good.verdict);
          count.take(bad.verdict);
          if (good.sight && bad.sight) references.set(next.type, { succeeded: good.sight, failed: bad.sight });
        }
      }),
    );
    if (process.env['CHAOS_VERBOSE'] !== undefined) print(JSON.stringify(Object.fromEntries(references), null, 1));

    const plan = planOf(
      known.filter((w) => references.has(w.type)),
      values.long,
    );
    const cases = plan.cases.filter((c) => values.only === undefined || new RegExp(values.only).test(c.name));
    const groups = groupsOf(cases, values.alone ? 1 : 3);
    print(`chaos: ${cases.length} cases in ${groups.length} groups on ${lanes.length} clouds`);
    const started = Date.now();
    await Promise.all(
      lanes.map(async (lane) => {
        for (let group = groups.shift(); group; group = groups.shift()) {
          if (count.failed >= failuresAtMost) {
            count.skip(group.length, `too many failures: ${group.map((c) => c.name).join('; ')}`);
            continue;
          }
          const since = Date.now();
          const verdicts = await new GroupRun(lane, scenarios, references, group).verdicts();
          const note = ` (${((Date.now() - since) / 1000).toFixed(1)} s, ${group.length} at once)`;
          for (const verdict of verdicts) count.take(verdict, note);
        }
      }),
    );
    print(`chaos: ${((Date.now() - started) / 1000).toFixed(0)} s`);
    if (values.only === undefined) {
      for (const fault of faults) {
        const left = plan.left.filter((entry) => entry.fault === fault);
        const n = left.reduce((sum, entry) => sum + entry.count, 0);
        if (n > 0)
          count.skip(
            n,
            `left for --long: ${n} × ${faultTitles[fault]} (${left.map((entry) => `${entry.type} ${entry.count}`).join(', ')})`,
          );
      }
    }
    failed = count.failed > 0;
  } catch (error) {
    count.take({
      name: 'the suite itself',
      faults: [error instanceof Error ? (error.stack ?? error.message) : String(error)],
    });
  } finally {
    relax();
    server.close();
    await Promise.all(lanes.map((lane) => lane.stop().catch(() => undefined)));
    if (process.env['VC_STACK_TEST_KEEP'] === undefined) {
      rmSync(directory, { recursive: true, force: true });
      if (failed) print('chaos: VC_STACK_TEST_KEEP=1 keeps the logs');
    } else print(`chaos: logs and files are below ${directory}`);
  }
  print(`chaos: ${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
  return count.failed > 0 ? 1 : 0;
};

void main().then((code) => process.exit(code));
