import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Security groups, their rules and the ports that are in them. Each project with a network has the group `default`,
 * which its ports join: they may send anything, and hear each other. Hosts get it with their next document.
 */
export class NetworkSecurityGroups1764304100000 implements MigrationInterface {
  name = 'NetworkSecurityGroups1764304100000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE security_group (
        id uuid PRIMARY KEY,
        project_id uuid NOT NULL,
        name text COLLATE "C" NOT NULL,
        description text NOT NULL DEFAULT '',
        is_default boolean NOT NULL DEFAULT false,
        version bigint NOT NULL DEFAULT 1,
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT security_group_name_key UNIQUE (project_id, name),
        CHECK (NOT is_default OR name = 'default')
      )`);
    await runner.query(
      'CREATE INDEX security_group_project_order ON security_group (project_id, created_at DESC, id DESC)',
    );
    await runner.query('CREATE INDEX security_group_order ON security_group (created_at DESC, id DESC)');
    await runner.query('CREATE EXTENSION IF NOT EXISTS pg_trgm');
    await runner.query('CREATE INDEX security_group_name_trigrams ON security_group USING gin (name gin_trgm_ops)');
    await runner.query(`
      CREATE TABLE security_group_rule (
        id uuid PRIMARY KEY,
        group_id uuid NOT NULL REFERENCES security_group (id) ON DELETE CASCADE,
        direction text NOT NULL CHECK (direction IN ('ingress', 'egress')),
        ethertype text NOT NULL CHECK (ethertype IN ('ipv4', 'ipv6')),
        protocol integer CHECK (protocol BETWEEN 0 AND 255),
        port_min integer CHECK (port_min BETWEEN 0 AND 65535),
        port_max integer CHECK (port_max BETWEEN port_min AND 65535),
        icmp_type integer CHECK (icmp_type BETWEEN 0 AND 255),
        icmp_code integer CHECK (icmp_code BETWEEN 0 AND 255),
        remote_cidr cidr CHECK (family(remote_cidr) = CASE ethertype WHEN 'ipv4' THEN 4 ELSE 6 END),
        remote_group_id uuid REFERENCES security_group (id),
        description text NOT NULL DEFAULT '',
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT security_group_rule_key UNIQUE NULLS NOT DISTINCT
          (group_id, direction, ethertype, protocol, port_min, port_max, icmp_type, icmp_code, remote_cidr, remote_group_id),
        CHECK ((port_min IS NULL) = (port_max IS NULL)),
        CHECK (icmp_code IS NULL OR icmp_type IS NOT NULL),
        CHECK (remote_cidr IS NULL OR remote_group_id IS NULL)
      )`);
    await runner.query('CREATE INDEX security_group_rule_order ON security_group_rule (group_id, created_at, id)');
    await runner.query('CREATE INDEX security_group_rule_remote ON security_group_rule (remote_group_id)');
    await runner.query(`
      CREATE TABLE port_security_group (
        port_id uuid NOT NULL REFERENCES port (id) ON DELETE CASCADE,
        group_id uuid NOT NULL REFERENCES security_group (id),
        PRIMARY KEY (port_id, group_id)
      )`);
    await runner.query('CREATE INDEX port_security_group_members ON port_security_group (group_id, port_id)');
    await runner.query(`
      CREATE TABLE security_group_delivery (
        host_id uuid NOT NULL,
        group_id uuid NOT NULL REFERENCES security_group (id) ON DELETE CASCADE,
        version bigint NOT NULL,
        generation bigint NOT NULL,
        PRIMARY KEY (host_id, group_id)
      )`);
    await runner.query('CREATE INDEX security_group_delivery_group ON security_group_delivery (group_id)');
    await this.defaultGroups(runner);
    // Every host with a port comes to a document that says the groups.
    await runner.query('ALTER TABLE host_network_generation ADD COLUMN behind boolean NOT NULL DEFAULT false');
    await runner.query(
      'UPDATE host_network_generation SET behind = true, asked_at = NULL WHERE host_id IN (SELECT host_id FROM port)',
    );
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }

  private async defaultGroups(runner: QueryRunner): Promise<void> {
    await runner.query(
      `INSERT INTO security_group (id, project_id, name, description, is_default)
       SELECT gen_random_uuid(), project_id, 'default', 'Of ports that name no group', true
         FROM (SELECT project_id FROM network UNION SELECT project_id FROM port) AS p`,
    );
    await runner.query(
      `INSERT INTO security_group_rule (id, group_id, direction, ethertype, remote_group_id)
       SELECT gen_random_uuid(), g.id, d.direction, e.ethertype, CASE d.direction WHEN 'ingress' THEN g.id END
         FROM security_group g CROSS JOIN (VALUES ('egress'), ('ingress')) AS d(direction) CROSS JOIN (VALUES ('ipv4'), ('ipv6')) AS e(ethertype)`,
    );
    await runner.query(
      `INSERT INTO port_security_group (port_id, group_id) SELECT p.id, g.id FROM port p JOIN security_group g ON g.project_id = p.project_id AND g.is_default`,
    );
  }
}
