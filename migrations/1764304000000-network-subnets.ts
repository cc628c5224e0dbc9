import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A network was a subnet and, with NAT, a router; a port had one address. Each is a thing of its own now. What was one is
 * called alike in all tables, so that a host has its routers under the names that it knows. `btree_gist` comes with
 * PostgreSQL; the owner of a database may add it.
 */
export class NetworkSubnets1764304000000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query('CREATE EXTENSION IF NOT EXISTS btree_gist');
    await q.query(`
      CREATE TABLE subnet (
        id uuid PRIMARY KEY,
        project_id uuid NOT NULL,
        network_id uuid NOT NULL REFERENCES network (id) ON DELETE CASCADE,
        name text COLLATE "C" NOT NULL,
        cidr cidr NOT NULL CHECK (family(cidr) = 4 AND masklen(cidr) BETWEEN 8 AND 29),
        gateway inet NOT NULL,
        dns text[] NOT NULL DEFAULT '{}',
        next_address inet NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT subnet_name_key UNIQUE (network_id, name),
        CONSTRAINT subnet_overlap EXCLUDE USING gist (network_id WITH =, cidr inet_ops WITH &&),
        CHECK (gateway << cidr AND host(gateway) <> host(cidr) AND host(gateway) <> host(broadcast(cidr)))
      )`);
    await q.query('CREATE INDEX subnet_project_order ON subnet (project_id, created_at DESC, id DESC)');
    await q.query('CREATE INDEX subnet_order ON subnet (created_at DESC, id DESC)');
    await q.query('CREATE INDEX subnet_cidr_text ON subnet ((host(cidr) COLLATE "C"))');
    await q.query('CREATE INDEX subnet_name_trigrams ON subnet USING gin (name gin_trgm_ops)');
    await q.query(
      `INSERT INTO subnet (id, project_id, network_id, name, cidr, gateway, dns, next_address, created_at)
       SELECT id, project_id, id, name, subnet, gateway, dns, next_address, created_at FROM network`,
    );
    await q.query(`
      CREATE TABLE router (
        id uuid PRIMARY KEY,
        project_id uuid NOT NULL,
        name text COLLATE "C" NOT NULL,
        description text NOT NULL DEFAULT '',
        snat boolean NOT NULL,
        with_network_id uuid,
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT router_name_key UNIQUE (project_id, name)
      )`);
    await q.query('CREATE INDEX router_project_order ON router (project_id, created_at DESC, id DESC)');
    await q.query('CREATE INDEX router_order ON router (created_at DESC, id DESC)');
    await q.query('CREATE INDEX router_name_trigrams ON router USING gin (name gin_trgm_ops)');
    await q.query(
      `COMMENT ON COLUMN router.snat IS 'Its subnets reach the outside by source NAT; without, each other only'`,
    );
    await q.query(
      `COMMENT ON COLUMN router.with_network_id IS 'The network that it was made with, as its way out: it goes with it'`,
    );
    await q.query('CREATE INDEX router_with_network ON router (with_network_id)');
    await q.query(`
      CREATE TABLE router_interface (
        router_id uuid NOT NULL REFERENCES router (id),
        network_id uuid NOT NULL REFERENCES network (id),
        subnet_id uuid PRIMARY KEY REFERENCES subnet (id),
        cidr cidr NOT NULL,
        CONSTRAINT router_interface_overlap EXCLUDE USING gist (router_id WITH =, cidr inet_ops WITH &&),
        CONSTRAINT router_interface_network EXCLUDE USING gist (network_id WITH =, router_id WITH <>)
      )`);
    await q.query('CREATE INDEX router_interface_router ON router_interface (router_id)');
    await q.query('CREATE INDEX router_interface_network_id ON router_interface (network_id)');
    await q.query(
      `INSERT INTO router (id, project_id, name, snat, with_network_id, created_at) SELECT id, project_id, name, true, id, created_at FROM network WHERE nat`,
    );
    await q.query(
      `INSERT INTO router_interface (router_id, network_id, subnet_id, cidr) SELECT id, id, id, subnet FROM network WHERE nat`,
    );
    await q.query(`
      CREATE TABLE port_address (
        port_id uuid NOT NULL REFERENCES port (id) ON DELETE CASCADE,
        subnet_id uuid NOT NULL REFERENCES subnet (id),
        address inet NOT NULL CHECK (masklen(address) = CASE family(address) WHEN 4 THEN 32 ELSE 128 END),
        position integer NOT NULL,
        PRIMARY KEY (subnet_id, address),
        CONSTRAINT port_address_position_key UNIQUE (port_id, position)
      )`);
    await q.query(
      'INSERT INTO port_address (port_id, subnet_id, address, position) SELECT id, network_id, address, 0 FROM port',
    );
    await q.query('ALTER TABLE port DROP CONSTRAINT port_address_key');
    await q.query(`COMMENT ON COLUMN port.address IS 'Its first one, as in port_address: what lists show, and search'`);
    await q.query('ALTER TABLE address_cooldown DROP CONSTRAINT address_cooldown_network_id_fkey');
    await q.query('ALTER TABLE address_cooldown RENAME COLUMN network_id TO subnet_id');
    await q.query('ALTER TABLE address_cooldown ADD FOREIGN KEY (subnet_id) REFERENCES subnet (id) ON DELETE CASCADE');
    await q.query(
      'ALTER TABLE network DROP COLUMN subnet, DROP COLUMN gateway, DROP COLUMN dns, DROP COLUMN nat, DROP COLUMN next_address',
    );
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
