import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Tickets of long-lived channels, and the function by which tables tell whose authority has changed. A trigger, so that
 * no writer can forget it and the notice commits with the change; such changes are rare, so the lock that NOTIFY takes
 * at commit is no burden.
 */
export class AuthChannels1764300200004 implements MigrationInterface {
  name = 'AuthChannels1764300200004';

  async up(q: QueryRunner): Promise<void> {
    await q.query(`
      CREATE TABLE channel_ticket (
        hash bytea PRIMARY KEY,
        purpose text NOT NULL,
        subject_id uuid NOT NULL,
        via text NOT NULL CHECK (via IN ('session', 'api-token')),
        credential_id uuid NOT NULL,
        user_id uuid NOT NULL,
        expires_at timestamptz NOT NULL
      )`);
    await q.query('CREATE INDEX channel_ticket_expiry ON channel_ticket (expires_at)');
    await q.query(`
      CREATE FUNCTION tell_authority() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM pg_notify('vc_stack_authority', to_jsonb(CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END) ->> TG_ARGV[0]);
        RETURN NULL;
      END $$`);
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
