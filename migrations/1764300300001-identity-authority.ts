import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Whatever takes from a user's rights, or adds to them, is told to the processes that hold the user's channels. */
export class IdentityAuthority1764300300001 implements MigrationInterface {
  name = 'IdentityAuthority1764300300001';

  async up(q: QueryRunner): Promise<void> {
    await q.query(
      `CREATE TRIGGER app_user_authority AFTER DELETE OR UPDATE OF admin, enabled ON app_user FOR EACH ROW EXECUTE FUNCTION tell_authority('id')`,
    );
    await q.query(
      `CREATE TRIGGER project_member_authority AFTER INSERT OR UPDATE OR DELETE ON project_member FOR EACH ROW EXECUTE FUNCTION tell_authority('user_id')`,
    );
    await q.query(
      `CREATE TRIGGER session_authority AFTER UPDATE OF revoked_at, expires_at ON session FOR EACH ROW EXECUTE FUNCTION tell_authority('user_id')`,
    );
    // Those that are tidied away had ended before.
    await q.query(
      `CREATE TRIGGER session_authority_delete AFTER DELETE ON session FOR EACH ROW WHEN (OLD.revoked_at IS NULL AND OLD.expires_at > now()) EXECUTE FUNCTION tell_authority('user_id')`,
    );
    await q.query(
      `CREATE TRIGGER api_token_authority AFTER DELETE OR UPDATE OF scopes, expires_at ON api_token FOR EACH ROW EXECUTE FUNCTION tell_authority('user_id')`,
    );
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
