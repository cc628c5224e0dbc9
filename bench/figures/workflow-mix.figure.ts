import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { childTask, defineWorkflow } from '../../src/core/workflow/definition/definition';
import { BenchEngine } from '../harness/bench-engine';
import type { Figure } from '../harness/figure';
import type { Lab } from '../harness/lab';
import { BareTransactions } from '../harness/bare-transactions';
import { cpuSecondsOf } from '../harness/processor-time';
import { inLanes, median, timed } from '../harness/statistics';

const workflows = 1_000;
const inFlight = 64;
const pool = 20;
/** Of every ten: four of plain steps, two that nap, two that wait for a signal, two with three children each. */
const kinds = ['plain', 'plain', 'plain', 'plain', 'nap', 'nap', 'signal', 'signal', 'children', 'children'] as const;
/** Their inserts, claims and commits, counted as those of the bench's other figures. */
const transactionsPerWorkflow = 5;
const sleepers = 100_000;
/** The median of several: a collection of garbage from before falls into one of them. */
const idleWindows = 5;
const idleSeconds = 10;
/** What was asked of PostgreSQL before goes on for so long: it vacuums new rows once. */
const settleSeconds = 15;
const rounds = 11;

interface Drain {
  seconds: number;
  /** Of this process and the server. */
  cpuSeconds: number;
}

const input = z.strictObject({ id: z.string() });
const note = { noUndo: 'a measurement has nothing to undo' };

const definitions = () => {
  const plain = defineWorkflow('bench.plain', { version: 1, input, deadline: '10m' })
    .tx('one', { run: async () => ({}), ...note })
    .tx('two', { run: async () => ({}), ...note });
  const nap = defineWorkflow('bench.nap', { version: 1, input, deadline: '10m' })
    .tx('one', { run: async (c) => ({ at: Date.now(), attempt: c.attempt }), ...note })
    .wait('nap', {
      until: async (c) => (Date.now() - c.out.one.at >= 50 ? true : undefined),
      every: '50ms',
      timeout: '1m',
    })
    .tx('two', { run: async () => ({}), ...note });
  const signal = defineWorkflow('bench.signal', { version: 1, input, deadline: '10m', lock: (i) => i.id })
    .wait('signal', {
      until: async (c) =>
        (await c.op.query('SELECT 1 FROM bench_signal WHERE id = $1', [c.input.id])).length > 0 ? true : undefined,
      every: '30s',
      timeout: '5m',
    })
    .tx('two', { run: async () => ({}), ...note });
  const children = defineWorkflow('bench.children', { version: 1, input, deadline: '10m' })
    .children('parts', {
      start: async (c) =>
        [0, 1, 2].map((n) =>
          childTask(plain, { id: `${c.input.id}/${n}` }, { kind: 'bench', id: randomUUID(), name: `part-${n}` }),
        ),
      ...note,
    })
    .tx('two', { run: async () => ({}), ...note });
  return { plain, nap, signal, children };
};

interface Side {
  drain(count: number): Promise<void>;
  vacuum(): Promise<void>;
  close(): Promise<void>;
}

/** An engine on a database of its own, with so many tasks asleep until tomorrow. */
const openSide = async (lab: Lab, url: string, sleepers: number): Promise<Side> => {
  const known = definitions();
  const { engine, database } = await BenchEngine.open(lab, url, pool, () => Object.values(known));
  await database.query('CREATE TABLE bench_signal (id text PRIMARY KEY)');
  await database.query(
    `INSERT INTO task (id, type, version, project_id, subject_kind, subject_id, subject_name, state, input, wake_at, deadline_ms, created_by)
     SELECT gen_random_uuid(), 'bench.nap', 1, gen_random_uuid(), 'bench', gen_random_uuid(), 'bench', 'running', '{}', now() + interval '1 day', 86400000, 'bench' FROM generate_series(1, ${sleepers})`,
  );
  const vacuum = async (): Promise<void> => void (await database.query('VACUUM ANALYZE'));
  await vacuum();
  return {
    drain: (count) =>
      inLanes(count, inFlight, async (i) => {
        const kind = kinds[i % kinds.length] ?? 'plain';
        const id = randomUUID();
        const task = await database.tx((op) =>
          engine.start(
            op,
            known[kind],
            { id },
            { projectId: null, subject: { kind: 'bench', id, name: 'bench' }, createdBy: 'bench' },
          ),
        );
        if (kind === 'signal') {
          await database.tx(async (op) => {
            await op.query('INSERT INTO bench_signal VALUES ($1)', [id]);
            await engine.wake(op, id);
          });
        }
        const state = await engine.settled(task.id, 60_000);
        if (state !== 'succeeded') throw new Error(`a workflow is ${state}`);
      }),
    vacuum,
    close: () => engine.stop(),
  };
};

/**
 * What an engine does with everything at once, and what it costs when it has nothing to do, also with many tasks
 * asleep.
 */
export const workflowMix: Figure = {
  name: 'workflows, mixed and idle',
  limitMinutes: 8,
  async run(lab: Lab) {
    const cpuSeconds = (): number =>
      (process.cpuUsage().user + process.cpuUsage().system) / 1e6 + lab.postgres.cpuSeconds;
    const idle = async (): Promise<{ ours: number; bystander: number }> => {
      await delay(settleSeconds * 1000);
      const bystander = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], { stdio: 'ignore' });
      try {
        const ours: number[] = [];
        const theirs: number[] = [];
        await delay(1_000);
        for (let i = 0; i < idleWindows; i += 1) {
          const before = [cpuSeconds(), cpuSecondsOf(bystander.pid ?? 0)] as const;
          await delay(idleSeconds * 1000);
          ours.push((100 * (cpuSeconds() - before[0])) / idleSeconds);
          theirs.push((100 * (cpuSecondsOf(bystander.pid ?? 0) - before[1])) / idleSeconds);
        }
        return { ours: median(ours), bystander: median(theirs) };
      } finally {
        bystander.kill('SIGKILL');
      }
    };
    const url = await lab.postgres.database('workflow_mix');
    const alone = await openSide(lab, url, 0);
    lab.say(`nothing for ${idleWindows} times ${idleSeconds} s`);
    const empty = await idle();
    const beside = await openSide(lab, await lab.postgres.database('workflow_mix_asleep'), sleepers);
    const bare = await BareTransactions.open(url, pool);
    lab.defer(() => bare.close());

    // In turn: what the machine does beside this run then meets all of them alike.
    const measured = { alone: [] as Drain[], beside: [] as Drain[], bare: [] as Drain[] };
    const subjects = {
      alone: () => alone.drain(workflows),
      beside: () => beside.drain(workflows),
      bare: () => inLanes(workflows, inFlight, () => bare.several(transactionsPerWorkflow)),
    };
    for (const [name, drain] of Object.entries(subjects)) {
      lab.say(`${name}: warming up`);
      await drain();
    }
    for (let round = 0; round < rounds; round += 1) {
      for (const name of round % 2 === 0
        ? (['alone', 'beside', 'bare'] as const)
        : (['beside', 'alone', 'bare'] as const)) {
        const before = cpuSeconds();
        const seconds = (await timed(subjects[name])) / 1000;
        measured[name].push({ seconds, cpuSeconds: cpuSeconds() - before });
        lab.say(`${name}: ${workflows} in ${seconds.toFixed(1)} s`);
      }
    }
    const seconds = (drains: readonly Drain[]): number => median(drains.map((d) => d.seconds));
    const processor = (drains: readonly Drain[]): number => median(drains.map((d) => d.cpuSeconds));

    await alone.close();
    lab.say(`nothing for ${idleWindows} times ${idleSeconds} s, ${sleepers} asleep`);
    // What the drains left behind is theirs.
    await beside.vacuum();
    const asleep = await idle();
    const many = sleepers.toLocaleString('en');
    return [
      {
        figure: '1,000 mixed workflows (naps, signals, children)',
        ours: seconds(measured.alone),
        reference: seconds(measured.bare),
        unit: 's',
        note: `aim: at most 6 s; median of ${rounds}; reference: the same count of ${transactionsPerWorkflow} bare transactions each`,
      },
      {
        figure: `the same beside ${many} sleeping tasks`,
        ours: seconds(measured.beside),
        reference: seconds(measured.alone),
        unit: 's',
        note: `aim: not measurable; median of ${rounds}; reference: without them, in turn`,
      },
      {
        figure: `processor time of it, with PostgreSQL, beside ${many} sleeping tasks`,
        ours: processor(measured.beside),
        reference: processor(measured.alone),
        unit: 's',
        note: 'aim: not measurable; reference: without them, in turn',
      },
      {
        figure: 'idle engine and its PostgreSQL',
        ours: empty.ours,
        reference: empty.bystander,
        unit: '% of a core',
        note: 'aim: at most 1 %; reference: a Node process that wakes once a second and does nothing',
      },
      {
        figure: `idle, ${many} tasks asleep`,
        ours: asleep.ours,
        reference: empty.ours,
        unit: '% of a core',
        note: 'aim: not measurable; reference: none asleep',
      },
    ];
  },
};
