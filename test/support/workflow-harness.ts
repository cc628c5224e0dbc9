import pino from 'pino';
import { z } from 'zod';
import type { Database } from '../../src/core/db/database';
import type { Op } from '../../src/core/db/rows/op';
import { Outbox } from '../../src/core/events/outbox';
import { NodeCaller } from '../../src/core/m2m/management/node-caller';
import { defineVerb } from '../../src/core/m2m/verbs/verb';
import { Logging } from '../../src/core/telemetry/logging';
import type { RegistrableDefinition } from '../../src/core/workflow/definition/definition-registry';
import type { WorkflowProbe } from '../../src/core/workflow/run/workflow-probe';
import { WorkflowSettings } from '../../src/core/workflow/workflow-settings';
import { TestEngine } from './test-engine';
import { MemoryOutbox } from './memory-outbox';
import { FakeNodes } from './fake-nodes';

export const hostA = '11111111-1111-4111-8111-111111111111';

export const makeThing = defineVerb('thing.make', {
  args: z.object({ name: z.string() }),
  result: z.object({ made: z.string() }),
  long: true,
});

export const dropThing = defineVerb('thing.drop', { args: z.object({ name: z.string() }), result: z.object({}) });

export const quietLogging = (): Logging => new Logging(pino({ level: process.env['TEST_LOG'] ?? 'silent' }));

export interface EngineOptions {
  nodes?: NodeCaller;
  outbox?: Outbox;
  probe?: WorkflowProbe;
  settings?: Partial<WorkflowSettings>;
}

export const newEngine = (
  database: Database,
  definitions: readonly RegistrableDefinition[],
  options: EngineOptions = {},
): TestEngine => {
  const engine = new TestEngine({
    database,
    nodes: options.nodes ?? new FakeNodes(),
    outbox: options.outbox ?? new MemoryOutbox(),
    logging: quietLogging(),
    probe: options.probe,
    settings: new WorkflowSettings({
      outcomePollMs: 100,
      stopGraceMs: 1_000,
      undoMaxBackoffMs: 100,
      ...options.settings,
    }),
  });
  engine.register(definitions);
  return engine;
};

/** What steps did, one row each, so that a test sees what stands and what was done twice. */
export const createLedger = (database: Database): Promise<unknown> =>
  database.query(
    'CREATE TABLE IF NOT EXISTS effect (task_id uuid NOT NULL, what text NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp())',
  );

export const ledger = {
  add: async (database: Database, op: Op, taskId: string, what: string): Promise<void> => {
    await database.query('INSERT INTO effect (task_id, what) VALUES ($1, $2)', [taskId, what], op);
  },
  remove: async (database: Database, op: Op, taskId: string, what: string): Promise<void> => {
    await database.query('DELETE FROM effect WHERE task_id = $1 AND what = $2', [taskId, what], op);
  },
  of: async (database: Database, taskId: string): Promise<string[]> =>
    (await database.query<{ what: string }>('SELECT what FROM effect WHERE task_id = $1 ORDER BY at', [taskId])).map(
      (row) => row.what,
    ),
};

export const subject = (id: string = crypto.randomUUID()): { kind: string; id: string; name: string } => ({
  kind: 'thing',
  id,
  name: 'a thing',
});

export const startOptions = { projectId: null, createdBy: 'system' };

export interface TaskView {
  state: string;
  error: { code: string; message: string; step: string | null; host: string | null; hint: string | null } | null;
  undone: boolean;
  fence: string;
  lock_state: string | null;
  awaited_lock: string | null;
  cancel_requested_at: Date | null;
  owner: string | null;
  waiting_for: string | null;
  wake_at: Date | null;
  progress: number;
}

export const taskRow = async (database: Database, id: string): Promise<TaskView> => {
  const rows = await database.query<TaskView>('SELECT * FROM task WHERE id = $1', [id]);
  if (!rows[0]) throw new Error(`no task ${id}`);
  return rows[0];
};

export const stepRows = (
  database: Database,
  id: string,
): Promise<{ name: string; phase: string; state: string; attempt: number; output: unknown; error: unknown }[]> =>
  database.query(
    'SELECT name, phase, state, attempt, output, error FROM task_step_history WHERE task_id = $1 ORDER BY seq, phase',
    [id],
  );
