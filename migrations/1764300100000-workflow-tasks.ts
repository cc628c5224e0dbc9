import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The engine's two tables: what users see as a task and what workers run are the same row. */
export class WorkflowTasks1764300100000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`
      CREATE TABLE task (
        id uuid PRIMARY KEY,
        type text NOT NULL,
        version int NOT NULL,
        project_id uuid,
        subject_kind text NOT NULL,
        subject_id uuid NOT NULL,
        subject_name text NOT NULL,
        state text NOT NULL CHECK (state IN ('queued', 'running', 'compensating', 'succeeded', 'failed', 'cancelled', 'stuck')),
        input jsonb NOT NULL,
        cursor int NOT NULL DEFAULT 0,
        step text,
        progress int NOT NULL DEFAULT 0,
        lock_key text,
        lock_state text CHECK (lock_state IN ('held', 'waiting')),
        has_waiter boolean NOT NULL DEFAULT false,
        owner text,
        fence bigint NOT NULL DEFAULT 0,
        lease_until timestamptz,
        wake_at timestamptz,
        wake_seq bigint NOT NULL DEFAULT 0,
        deadline_ms bigint NOT NULL,
        deadline timestamptz,
        undo_deadline timestamptz,
        cancel_requested_at timestamptz,
        cancel_by text,
        cancel_reason text,
        outcome text CHECK (outcome IN ('failed', 'cancelled')),
        error jsonb,
        undone boolean NOT NULL DEFAULT false,
        created_by text NOT NULL,
        request_id text,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        started_at timestamptz,
        ended_at timestamptz
      ) WITH (fillfactor = 70)`);
    await q.query(
      `COMMENT ON COLUMN task.wake_at IS 'When a worker may claim it: the end of a nap, or of the lease while one has it; null when it is over, stuck or waits for its lock'`,
    );
    await q.query(
      `COMMENT ON COLUMN task.wake_seq IS 'Counts wake-ups. A nap only begins if no wake-up came since the worker last looked, so that none is lost'`,
    );
    await q.query(`CREATE UNIQUE INDEX task_lock_held ON task (lock_key) WHERE lock_state = 'held'`);
    await q.query(`CREATE INDEX task_lock_waiting ON task (lock_key, created_at, id) WHERE lock_state = 'waiting'`);
    await q.query(`CREATE INDEX task_wake ON task (wake_at) WHERE wake_at IS NOT NULL`);
    await q.query(
      `CREATE INDEX task_live ON task (created_at DESC, id DESC) WHERE state IN ('queued', 'running', 'compensating', 'stuck')`,
    );
    await q.query(`CREATE INDEX task_newest ON task (created_at DESC, id DESC)`);
    await q.query(`CREATE INDEX task_project ON task (project_id, created_at DESC, id DESC)`);
    await q.query(`CREATE INDEX task_subject ON task (subject_id, created_at DESC, id DESC)`);
    await q.query(`CREATE INDEX task_type ON task (type, created_at DESC, id DESC)`);
    await q.query(`
      CREATE TABLE task_step (
        task_id uuid NOT NULL REFERENCES task ON DELETE CASCADE,
        seq int NOT NULL,
        name text NOT NULL,
        phase text NOT NULL CHECK (phase IN ('run', 'undo')),
        state text NOT NULL CHECK (state IN ('running', 'succeeded', 'failed', 'skipped')),
        attempt int NOT NULL DEFAULT 1,
        host_id uuid,
        accepted boolean NOT NULL DEFAULT false,
        progress int,
        message text,
        output jsonb,
        error jsonb,
        started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        ended_at timestamptz,
        PRIMARY KEY (task_id, seq, phase)
      ) WITH (fillfactor = 80)`);
    await q.query(
      `COMMENT ON COLUMN task_step.accepted IS 'The node took the call and goes on by itself: ask for its outcome, do not call again'`,
    );
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
