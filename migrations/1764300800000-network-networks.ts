import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Networks, ports (an address is a row with a unique key), cooling addresses, and the generation of each host's
 * document.
 */
export class NetworkNetworks1764300800000 implements MigrationInterface {
  name = 'NetworkNetworks1764300800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE network (
        id uuid PRIMARY KEY,
        project_id uuid NOT NULL,
        name text COLLATE "C" NOT NULL,
        description text NOT NULL DEFAULT '',
        subnet cidr NOT NULL CHECK (family(subnet) = 4 AND masklen(subnet) BETWEEN 8 AND 29),
        gateway inet NOT NULL,
        dns text[] NOT NULL DEFAULT '{}',
        nat boolean NOT NULL,
        mtu integer NOT NULL,
        next_address inet NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT network_name_key UNIQUE (project_id, name),
        CHECK (gateway << subnet AND host(gateway) <> host(subnet) AND host(gateway) <> host(broadcast(subnet)))
      )`);
    await runner.query('CREATE INDEX network_project_order ON network (project_id, created_at DESC, id DESC)');
    await runner.query('CREATE INDEX network_order ON network (created_at DESC, id DESC)');
    await runner.query(`
      CREATE TABLE port (
        id uuid PRIMARY KEY,
        project_id uuid NOT NULL,
        network_id uuid NOT NULL REFERENCES network (id),
        instance_id uuid NOT NULL,
        host_id uuid NOT NULL,
        hostname text NOT NULL,
        position integer NOT NULL,
        mac macaddr NOT NULL,
        address inet NOT NULL CHECK (family(address) = 4 AND masklen(address) = 32),
        state text NOT NULL DEFAULT 'down' CHECK (state IN ('down', 'active', 'error')),
        message text NOT NULL DEFAULT '',
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT port_address_key UNIQUE (network_id, address),
        CONSTRAINT port_mac_key UNIQUE (mac),
        CONSTRAINT port_instance_key UNIQUE (instance_id, position)
      )`);
    await runner.query('CREATE INDEX port_host_idx ON port (host_id)');
    await runner.query('CREATE INDEX port_project_order ON port (project_id, created_at DESC, id DESC)');
    await runner.query('CREATE INDEX port_order ON port (created_at DESC, id DESC)');
    await runner.query('CREATE INDEX port_network_order ON port (network_id, created_at DESC, id DESC)');
    await runner.query(`
      CREATE TABLE address_cooldown (
        network_id uuid NOT NULL REFERENCES network (id) ON DELETE CASCADE,
        address inet NOT NULL,
        until timestamptz NOT NULL,
        PRIMARY KEY (network_id, address)
      )`);
    await runner.query(`
      CREATE TABLE host_network_generation (
        host_id uuid PRIMARY KEY,
        generation bigint NOT NULL,
        changed_at timestamptz NOT NULL DEFAULT now()
      )`);
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
