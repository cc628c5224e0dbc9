import { setTimeout as delay } from 'node:timers/promises';
import type { Scenario, Scenarios, ScenarioSubject } from '../../src/core/testing/scenario';
import { leaseMs, type Lane } from './lane';
import type { Trap } from './messages';
import { difference, doneTwice, exactly, leftovers, sightOf, takenBack, type Sight } from './observation';
import type { Case, Fault } from './plan';

/** How a workflow ends when nobody disturbs it: once as it should, once when its last step fails. */
export interface Reference {
  succeeded: Sight;
  failed: Sight;
}

/** A case that is under way. */
interface Run {
  of: Case;
  scenario: Scenario;
  subject: ScenarioSubject;
  taskId: string;
  faults: string[];
}

export interface Verdict {
  name: string;
  /** Empty: passed. */
  faults: string[];
}

/** Enough for a lease, the backoff of many attempts and a slow machine. */
const patienceMs = 45_000;
/**
 * What hosts report may take so long to be seen; a host that came back with older networks is given the newest only
 * after their time.
 */
const settleMs = 60_000;

/** While the host or the database is away a verb may come to the end of its attempts: then it must have been undone. */
const mayFail: readonly Fault[] = ['kill-agent', 'cut-database', 'restart-database'];

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Runs cases that share one fault: each with a task of its own, all at their boundaries when the fault comes. */
export class GroupRun {
  private runs: Run[] = [];
  private before: string[] = [];

  constructor(
    private readonly lane: Lane,
    private readonly scenarios: Scenarios,
    private readonly references: ReadonlyMap<string, Reference>,
    private readonly cases: readonly Case[],
  ) {}

  async verdicts(): Promise<Verdict[]> {
    const { lane } = this;
    try {
      this.before = await leftovers(lane);
      await this.prepare();
      await this.disturb();
      for (const run of this.runs) await this.judge(run);
    } catch (error) {
      for (const run of this.runs) run.faults.push(messageOf(error));
      if (this.runs.length === 0) return this.cases.map(({ name }) => ({ name, faults: [messageOf(error)] }));
      await this.recover().catch((reason: unknown) =>
        this.runs.forEach((run) => run.faults.push(`recovering: ${messageOf(reason)}`)),
      );
    }
    await this.cleanUp();
    return this.runs.map((run) => ({ name: run.of.name, faults: run.faults }));
  }

  private async prepare(): Promise<void> {
    const { lane } = this;
    lane.survivor.send({ claim: true });
    await lane.ready();
    this.runs = await Promise.all(
      this.cases.map(async (of) => {
        const scenario = this.scenarios[of.boundary.type];
        if (!scenario) throw new Error(`no scenario for ${of.boundary.type}`);
        return { of, scenario, subject: await scenario.prepare(lane), taskId: '', faults: [] };
      }),
    );
    await lane.survivor.whenIdle(patienceMs);
    lane.survivor.send({ claim: false });
    // Its answer says that it has heard the order before: a busy one would still take what is started now.
    await lane.survivor.whenIdle(patienceMs);
  }

  /** Brings every task to its boundary and does there what the cases say. */
  private async disturb(): Promise<void> {
    const { lane } = this;
    const fault = this.cases[0]?.fault ?? 'kill';
    const victim = await lane.victim();
    victim.forget();
    // Those inside a transaction come last: they hold locks that others would wait for.
    for (const runs of [this.runs.filter((r) => !r.of.boundary.locks), this.runs.filter((r) => r.of.boundary.locks)]) {
      if (runs.length === 0) continue;
      victim.send({ claim: false });
      for (const run of runs) Object.assign(run, await run.scenario.start(lane, run.subject));
      const failing = runs.filter((r) => r.of.boundary.phase === 'undo').map((r) => r.taskId);
      lane.survivor.send({ failing });
      victim.send({ failing, traps: runs.map((r) => this.trapOf(r, fault)), claim: true });
      await lane.kick();
      await victim.standsAt(
        runs.map((r) => r.taskId),
        patienceMs,
      );
    }
    await this.strike(fault);
    await this.over();
  }

  private trapOf({ of, taskId }: Run, fault: Fault): Trap {
    const { step, phase, point } = of.boundary;
    return { taskId, at: { step, phase, point }, drop: fault === 'drop-answer' };
  }

  private async strike(fault: Fault): Promise<void> {
    const { lane } = this;
    const victim = await lane.victim();
    if (fault === 'kill' || fault === 'kill-again') {
      await victim.kill();
      lane.prepareVictim();
      if (fault === 'kill-again') await this.killNext();
      return this.release();
    }
    if (fault === 'freeze') {
      victim.signal('SIGSTOP');
      await this.release();
      return this.thaw();
    }
    if (fault === 'kill-agent') {
      await lane.killAgent();
      victim.send({ go: true });
      await lane.startAgent();
    }
    if (fault === 'cut-database') {
      await lane.cutConnections();
      victim.send({ go: true });
    }
    if (fault === 'restart-database') {
      const restarted = lane.restartDatabase();
      victim.send({ go: true });
      await restarted;
    }
    await this.release();
  }

  /** The next worker takes the tasks up and dies at the first boundary that each of them comes to. */
  private async killNext(): Promise<void> {
    const next = await this.lane.victim();
    const failing = this.runs.filter((r) => r.of.boundary.phase === 'undo').map((r) => r.taskId);
    const over = new Set(
      (
        await this.lane.query<{ id: string }>(
          `SELECT id FROM task WHERE id = ANY($1::uuid[]) AND state IN ('succeeded', 'failed', 'cancelled')`,
          [this.runs.map((r) => r.taskId)],
        )
      ).map((row) => row.id),
    );
    const left = this.runs.map((r) => r.taskId).filter((id) => !over.has(id));
    next.send({ failing, traps: left.map((taskId) => ({ taskId, at: null, drop: false })), claim: true });
    // Those behind a lock of another are not waited for: they die somewhere on their way.
    const first = left.map((id) => next.standsAt([id], patienceMs));
    // One that was killed after its last undo has only its end to come, which has no boundary.
    const ended = this.over();
    ended.catch(() => undefined);
    if (first.length > 0) await Promise.race([...first, ended]);
    await Promise.race([Promise.allSettled(first), delay(1_500)]);
    await next.kill();
    this.lane.prepareVictim();
  }

  /** From here on the survivor takes tasks. */
  private async release(): Promise<void> {
    this.lane.survivor.send({ claim: true });
    await this.lane.kick();
  }

  /** The frozen worker wakes up when all is over, and must change nothing. */
  private async thaw(): Promise<void> {
    const { lane } = this;
    const victim = await lane.victim();
    await this.over();
    // What the host has yet to report by heartbeat is not the thawed worker's doing: it comes first. Whether it is
    // right is judged later.
    await Promise.all(this.runs.map((r) => this.differences(r, this.expected(r))));
    const sights = await Promise.all(this.runs.map((r) => exactly(lane, r.taskId, r.scenario, r.subject)));
    victim.signal('SIGCONT');
    victim.send({ go: true, claim: false });
    await victim.whenIdle(patienceMs);
    await delay(200);
    for (const [i, run] of this.runs.entries()) {
      for (const line of difference(sights[i], await exactly(lane, run.taskId, run.scenario, run.subject)))
        run.faults.push(`changed by the thawed worker: ${line}`);
    }
  }

  /** How the undisturbed run ended that went as this one was told to. */
  private expected({ of }: Run): Sight {
    const reference = this.references.get(of.boundary.type);
    if (!reference) throw new Error(`no undisturbed run of ${of.boundary.type}`);
    return of.boundary.phase === 'undo' ? reference.failed : reference.succeeded;
  }

  private async over(): Promise<void> {
    const { lane } = this;
    const end = Date.now() + patienceMs;
    for (;;) {
      const open = await lane.query<{
        id: string;
        type: string;
        state: string;
        step: string;
        owner: string | null;
        error: unknown;
        fence: string;
      }>(
        `SELECT id, type, state, step, owner, error, fence FROM task WHERE id = ANY($1::uuid[]) AND state NOT IN ('succeeded', 'failed', 'cancelled', 'stuck')`,
        [this.runs.map((r) => r.taskId)],
      );
      if (open.length === 0) return;
      if (Date.now() > end) throw new Error(`not over within ${patienceMs} ms: ${JSON.stringify(open)}`);
      await delay(50);
    }
  }

  private async judge(run: Run): Promise<void> {
    const { lane } = this;
    const { boundary, fault } = run.of;
    const reference = this.references.get(boundary.type);
    if (!reference) throw new Error(`no undisturbed run of ${boundary.type}`);
    const [task] = await lane.query<{ state: string; undone: boolean; error: unknown }>(
      'SELECT state, undone, error FROM task WHERE id = $1',
      [run.taskId],
    );
    const wanted = boundary.phase === 'undo' ? 'failed' : 'succeeded';
    const undone = task?.state === 'failed' && task.undone;
    if (task?.state !== wanted && !(undone && mayFail.includes(fault))) {
      run.faults.push(
        `the task is ${task?.state ?? 'gone'} instead of ${wanted}: ${JSON.stringify(task?.error ?? null)}`,
      );
    } else {
      if (wanted === 'failed' && !undone) run.faults.push('the task failed and is not undone');
      run.faults.push(...(await this.differences(run, undone ? reference.failed : reference.succeeded)));
    }
    run.faults.push(...(await takenBack(lane, run.taskId, run.subject, boundary.type)));
    for (const key of doneTwice(lane, run.taskId)) run.faults.push(`done twice on the host: ${key}`);
  }

  private differences = (run: Run, expected: Sight): Promise<string[]> => settledDifference(this.lane, run, expected);

  private async cleanUp(): Promise<void> {
    const { lane } = this;
    lane.survivor.send({ claim: true });
    try {
      await lane.ready();
      await Promise.all(
        this.runs
          .filter((r) => r.subject.id !== '')
          .map((r) =>
            r.scenario
              .cleanUp(lane, r.subject)
              .catch((error: unknown) => r.faults.push(`cleaning up: ${messageOf(error)}`)),
          ),
      );
      for (const line of await remaining(lane, this.before)) {
        const owners = this.runs.filter((r) =>
          [...(r.subject.several ?? [r.subject.id]), r.taskId].some((id) => line.includes(id)),
        );
        for (const run of owners.length > 0 ? owners : this.runs) run.faults.push(`left: ${line}`);
      }
      lane.idleVictim();
    } catch (error) {
      for (const run of this.runs) run.faults.push(`cleaning up: ${messageOf(error)}`);
    }
  }

  /** After a group that went wrong: the next one finds a new worker, a running host and no live task. */
  private async recover(): Promise<void> {
    const { lane } = this;
    const victim = await lane.victim();
    victim.signal('SIGCONT');
    await victim.kill();
    lane.prepareVictim();
    await lane.killAgent();
    await lane.startAgent();
    await this.release();
    await delay(leaseMs);
    await this.over().catch(() => undefined);
  }
}

/** Where the subject differs from what is expected; what hosts have yet to report is waited for. */
const settledDifference = async (lane: Lane, { scenario, subject }: Run, expected: Sight): Promise<string[]> => {
  const end = Date.now() + settleMs;
  for (;;) {
    const lines = difference(expected, await sightOf(lane, scenario, subject));
    if (lines.length === 0 || Date.now() > end) return lines;
    await delay(100);
  }
};

/** Leftovers that were not there before; what goes by itself in a moment is waited for. */
export const remaining = async (lane: Lane, before: readonly string[]): Promise<string[]> => {
  const end = Date.now() + settleMs;
  for (;;) {
    const found = (await leftovers(lane)).filter((line) => !before.includes(line));
    if (found.length === 0 || Date.now() > end) return found;
    await delay(100);
  }
};
