import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a project's name means is told like a user's authority when it changes: every process keeps it for a while. */
export class IdentityProjectAuthority1764300300010 implements MigrationInterface {
  name = 'IdentityProjectAuthority1764300300010';

  async up(q: QueryRunner): Promise<void> {
    await q.query(
      `CREATE TRIGGER project_authority AFTER DELETE OR UPDATE OF name ON project FOR EACH ROW EXECUTE FUNCTION tell_authority('id')`,
    );
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
