import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Database } from '../../src/core/db/database';
import { defineWorkflow } from '../../src/core/workflow/definition/definition';
import { BenchEngine } from '../harness/bench-engine';
import type { Figure } from '../harness/figure';
import type { Lab } from '../harness/lab';
import { BareTransactions } from '../harness/bare-transactions';
import { inLanes, percentile, timed } from '../harness/statistics';

const warmUp = 500;
const workflows = 6_000;
/** Ours and the reference take turns so often: whatever else the machine does meets both. */
const slices = 12;
const inFlight = 64;
const pool = 20;
const stepNames = ['one', 'two', 'three', 'four'] as const;
/** The task's insert and its four steps. */
const transactionsPerWorkflow = 1 + stepNames.length;
const latencySeconds = 8;

interface Bench {
  run(): Promise<void>;
  /** Queues one; resolves with the time from the request to the begin of its first step. Milliseconds. */
  firstStep(): Promise<number>;
}

const openEngine = async (lab: Lab, url: string): Promise<Bench> => {
  const begun = new Map<string, (at: number) => void>();
  const effect = (database: Database, step: string) => ({
    run: async (c: { taskId: string; op: Parameters<Database['query']>[2]; input: { id: string } }) => {
      if (step === 'one') begun.get(c.input.id)?.(performance.now());
      await database.query('INSERT INTO bench_effect (task_id, step) VALUES ($1, $2)', [c.taskId, step], c.op);
      return {};
    },
    noUndo: 'a measurement has nothing to undo',
  });
  const definitionIn = (database: Database) =>
    defineWorkflow('bench.four-steps', { version: 1, input: z.strictObject({ id: z.string() }), deadline: '10m' })
      .tx('one', effect(database, 'one'))
      .tx('two', effect(database, 'two'))
      .tx('three', effect(database, 'three'))
      .tx('four', effect(database, 'four'));
  let definition: ReturnType<typeof definitionIn> | undefined;
  const { engine, database } = await BenchEngine.open(lab, url, pool, (opened) => [
    (definition = definitionIn(opened)),
  ]);
  const known = definition;
  if (!known) throw new Error('the engine was given no definition');
  await database.query('CREATE TABLE bench_effect (task_id uuid NOT NULL, step text NOT NULL)');
  const start = (id: string) =>
    database.tx((op) =>
      engine.start(
        op,
        known,
        { id },
        { projectId: null, subject: { kind: 'bench', id, name: 'bench' }, createdBy: 'bench' },
      ),
    );
  return {
    async run() {
      const { id } = await start(randomUUID());
      const state = await engine.settled(id, 60_000);
      if (state !== 'succeeded') throw new Error(`a workflow is ${state}`);
    },
    async firstStep() {
      const id = randomUUID();
      const from = performance.now();
      const first = new Promise<number>((resolve) => begun.set(id, resolve));
      await start(id);
      const ms = (await first) - from;
      begun.delete(id);
      return ms;
    },
  };
};

/** Calls `work` so often a second, whether earlier calls have ended or not, and collects what they resolve with. */
const atRate = async (perSecond: number, seconds: number, work: () => Promise<number>): Promise<number[]> => {
  const calls: Promise<number>[] = [];
  const from = performance.now();
  for (let i = 0; i < perSecond * seconds; i += 1) {
    const wait = from + (i * 1000) / perSecond - performance.now();
    if (wait > 0) await delay(wait);
    calls.push(work());
  }
  return Promise.all(calls);
};

export const workflowRate: Figure = {
  name: 'workflows',
  limitMinutes: 5,
  async run(lab: Lab) {
    const url = await lab.postgres.database('workflow_rate');
    const bench = await openEngine(lab, url);
    const bare = await BareTransactions.open(url, pool);
    lab.defer(() => bare.close());
    await inLanes(warmUp, inFlight, () => bench.run());
    await inLanes(warmUp, inFlight, () => bare.several(transactionsPerWorkflow));
    let [oursMs, bareMs] = [0, 0];
    for (let slice = 0; slice < slices; slice += 1) {
      oursMs += await timed(() => inLanes(workflows / slices, inFlight, () => bench.run()));
      bareMs += await timed(() => inLanes(workflows / slices, inFlight, () => bare.several(transactionsPerWorkflow)));
    }
    const ours = (workflows * 1000) / oursMs;
    const reference = (workflows * 1000) / bareMs;
    lab.say(`${ours.toFixed(0)} workflows/s; now half of it`);
    const latency = await atRate(ours / 2, latencySeconds, () => bench.firstStep());
    const bareLatency = await atRate(ours / 2, latencySeconds, () => timed(() => bare.one()));
    const row = (share: number, name: string, aim: string) => ({
      figure: `workflows at half load, start to first step: ${name}`,
      ours: percentile(latency, share),
      reference: percentile(bareLatency, share),
      unit: 'ms',
      note: `aim: at most ${aim}; reference: one bare transaction at the same rate`,
    });
    return [
      {
        figure: 'workflows of four steps in the database',
        ours,
        reference,
        unit: '/s',
        note: `aim: at least 80 % of the reference: the same count of bare transactions (${transactionsPerWorkflow} each), ${pool} connections`,
      },
      row(0.5, 'p50', '10 ms'),
      row(0.99, 'p99', '5 ms'),
    ];
  },
};
