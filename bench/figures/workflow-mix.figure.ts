import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { childTask, defineWorkflow } from '../../src/core/workflow/definition';
import { BenchEngine } from '../harness/bench-engine';
import type { Figure } from '../harness/figure';
import type { Lab } from '../harness/lab';
import { BareTransactions } from '../harness/postgres';
import { inLanes, timed } from '../harness/statistics';

const workflows = 1_000;
const inFlight = 64;
const pool = 20;
/** Of every ten: four of plain steps, two that nap, two that wait for a signal, two with three children each. */
const kinds = ['plain', 'plain', 'plain', 'plain', 'nap', 'nap', 'signal', 'signal', 'children', 'children'] as const;
/** Their inserts, claims and commits, counted as those of the bench's other figures. */
const transactionsPerWorkflow = 5;
const sleepers = 100_000;
const idleSeconds = 20;

const input = z.strictObject({ id: z.string() });
const note = { noUndo: 'a measurement has nothing to undo' };

const definitions = () => {
  const plain = defineWorkflow('bench.plain', { version: 1, input, deadline: '10m' })
    .tx('one', { run: async () => ({}), ...note })
    .tx('two', { run: async () => ({}), ...note });
  const nap = defineWorkflow('bench.nap', { version: 1, input, deadline: '10m' })
    .tx('one', { run: async (c) => ({ at: Date.now(), attempt: c.attempt }), ...note })
    .wait('nap', { until: async (c) => (Date.now() - c.out.one.at >= 50 ? true : undefined), every: '50ms', timeout: '1m' })
    .tx('two', { run: async () => ({}), ...note });
  const signal = defineWorkflow('bench.signal', { version: 1, input, deadline: '10m', lock: (i) => i.id })
    .wait('signal', { until: async (c) => ((await c.op.query('SELECT 1 FROM bench_signal WHERE id = $1', [c.input.id])).length > 0 ? true : undefined), every: '30s', timeout: '5m' })
    .tx('two', { run: async () => ({}), ...note });
  const children = defineWorkflow('bench.children', { version: 1, input, deadline: '10m' })
    .children('parts', { start: async (c) => [0, 1, 2].map((n) => childTask(plain, { id: `${c.input.id}/${n}` }, { kind: 'bench', id: randomUUID(), name: `part-${n}` })), ...note })
    .tx('two', { run: async () => ({}), ...note });
  return { plain, nap, signal, children };
};

/** What an engine does with everything at once, and what it costs when it has nothing to do, also with many tasks asleep. */
export const workflowMix: Figure = {
  name: 'workflows, mixed and idle',
  limitMinutes: 6,
  async run(lab: Lab) {
    const url = await lab.postgres.database('workflow_mix');
    const known = definitions();
    const { engine, database } = await BenchEngine.open(lab, url, pool, () => Object.values(known));
    await database.query('CREATE TABLE bench_signal (id text PRIMARY KEY)');
    const drain = async (count: number): Promise<void> => {
      await inLanes(count, inFlight, async (i) => {
        const kind = kinds[i % kinds.length] ?? 'plain';
        const id = randomUUID();
        const task = await database.tx((op) => engine.start(op, known[kind], { id }, { projectId: null, subject: { kind: 'bench', id, name: 'bench' }, createdBy: 'bench' }));
        if (kind === 'signal') {
          await database.tx(async (op) => {
            await op.query('INSERT INTO bench_signal VALUES ($1)', [id]);
            await engine.wake(op, id);
          });
        }
        const state = await engine.settled(task.id, 60_000);
        if (state !== 'succeeded') throw new Error(`a workflow is ${state}`);
      });
    };
    const idle = async (): Promise<number> => {
      await delay(2_000);
      const before = process.cpuUsage();
      const server = lab.postgres.cpuSeconds;
      await delay(idleSeconds * 1000);
      const used = process.cpuUsage(before);
      return (100 * ((used.user + used.system) / 1e6 + lab.postgres.cpuSeconds - server)) / idleSeconds;
    };
    lab.say(`nothing for ${idleSeconds} s`);
    const empty = await idle();
    await drain(workflows);
    const ours = (await timed(() => drain(workflows))) / 1000;
    const bare = await BareTransactions.open(url, pool);
    lab.defer(() => bare.close());
    const reference = (await timed(() => inLanes(workflows, inFlight, () => bare.several(transactionsPerWorkflow)))) / 1000;
    lab.say(`${workflows} mixed workflows in ${ours.toFixed(1)} s`);

    await database.query(
      `INSERT INTO task (id, type, version, project_id, subject_kind, subject_id, subject_name, state, input, wake_at, deadline_ms, created_by)
       SELECT gen_random_uuid(), 'bench.nap', 1, gen_random_uuid(), 'bench', gen_random_uuid(), 'bench', 'running', '{}', now() + interval '1 day', 86400000, 'bench' FROM generate_series(1, ${sleepers})`,
    );
    await database.query('VACUUM ANALYZE task');
    // The server has the new rows to itself first: it vacuums them once, and writes each page whole once.
    await drain(workflows);
    await delay(15_000);
    const asleep = await idle();
    const again = (await timed(() => drain(workflows))) / 1000;
    return [
      { figure: '1,000 mixed workflows (naps, signals, children)', ours, reference, unit: 's', note: `aim: at most 6 s; reference: the same count of ${transactionsPerWorkflow} bare transactions each` },
      { figure: `the same beside ${sleepers.toLocaleString('en')} sleeping tasks`, ours: again, reference: ours, unit: 's', note: 'aim: not measurable; reference: without them' },
      { figure: 'idle engine and its PostgreSQL', ours: empty, reference: 100, unit: '% of a core', note: 'aim: at most 1 %; reference: a core' },
      { figure: `idle, ${sleepers.toLocaleString('en')} tasks asleep`, ours: asleep, reference: empty, unit: '% of a core', note: 'aim: not measurable; reference: none asleep' },
    ];
  },
};
