import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Users, projects, memberships, sessions, tokens and signing keys. The user table is `app_user` since `user` is a
 * reserved word.
 */
export class IdentityUsers1764300300000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE app_user (
        id uuid PRIMARY KEY,
        name text COLLATE "C" NOT NULL,
        password_hash text NOT NULL,
        admin boolean NOT NULL DEFAULT false,
        enabled boolean NOT NULL DEFAULT true,
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT app_user_name_key UNIQUE (name)
      )`);
    await runner.query(`CREATE INDEX app_user_admin_idx ON app_user (id) WHERE admin`);
    await runner.query(`
      CREATE TABLE project (
        id uuid PRIMARY KEY,
        name text COLLATE "C" NOT NULL,
        description text NOT NULL DEFAULT '',
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT project_name_key UNIQUE (name)
      )`);
    await runner.query(`
      CREATE TABLE project_member (
        project_id uuid NOT NULL REFERENCES project (id) ON DELETE CASCADE,
        user_id uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
        role text NOT NULL CHECK (role IN ('project-admin', 'member', 'viewer')),
        created_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (project_id, user_id)
      )`);
    await runner.query(`CREATE INDEX project_member_user_idx ON project_member (user_id)`);
    await runner.query(`
      CREATE TABLE session (
        id uuid PRIMARY KEY,
        user_id uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        revoked_at timestamptz,
        revoked_reason text
      )`);
    await runner.query(`CREATE INDEX session_user_idx ON session (user_id)`);
    await runner.query(`CREATE INDEX session_expiry_idx ON session (expires_at)`);
    await runner.query(`
      CREATE TABLE refresh_token (
        id uuid PRIMARY KEY,
        session_id uuid NOT NULL REFERENCES session (id) ON DELETE CASCADE,
        hash bytea NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        used_at timestamptz
      )`);
    await runner.query(`CREATE INDEX refresh_token_session_idx ON refresh_token (session_id)`);
    await runner.query(`CREATE INDEX refresh_token_expiry_idx ON refresh_token (expires_at)`);
    await runner.query(`
      CREATE TABLE api_token (
        id uuid PRIMARY KEY,
        user_id uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
        name text COLLATE "C" NOT NULL,
        hash bytea NOT NULL,
        scopes text[],
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz,
        last_used_at timestamptz,
        CONSTRAINT api_token_user_name_key UNIQUE (user_id, name)
      )`);
    await runner.query(`CREATE INDEX api_token_user_idx ON api_token (user_id, id)`);
    await runner.query(`
      CREATE TABLE signing_key (
        id uuid PRIMARY KEY,
        algorithm text NOT NULL,
        public_jwk jsonb NOT NULL,
        private_sealed text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        signs_until timestamptz NOT NULL,
        verifies_until timestamptz NOT NULL
      )`);
    await runner.query(`CREATE INDEX signing_key_signs_idx ON signing_key (signs_until)`);
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
