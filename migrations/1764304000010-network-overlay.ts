import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Networks cross hosts: each has an identifier of its own on the wire, hosts have addresses towards each other, and what
 * changes a network's ports is noted, in the same transaction whoever does it, so that its other hosts hear of it.
 */
export class NetworkOverlay1764304000010 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query('CREATE SEQUENCE network_vni AS integer MINVALUE 1 MAXVALUE 16777215 CYCLE');
    await q.query(`
      CREATE FUNCTION free_vni() RETURNS integer LANGUAGE plpgsql AS $$
      DECLARE found integer;
      BEGIN
        FOR attempt IN 1..1000 LOOP
          found := nextval('network_vni');
          EXIT WHEN NOT EXISTS (SELECT 1 FROM network WHERE vni = found);
        END LOOP;
        RETURN found;
      END $$`);
    await q.query('ALTER TABLE network ADD COLUMN vni integer CHECK (vni BETWEEN 1 AND 16777215)');
    await q.query(`UPDATE network SET vni = nextval('network_vni')`);
    await q.query(
      'ALTER TABLE network ALTER COLUMN vni SET NOT NULL, ALTER COLUMN vni SET DEFAULT free_vni(), ADD CONSTRAINT network_vni_key UNIQUE (vni)',
    );
    await q.query(
      `COMMENT ON COLUMN network.vni IS 'Its identifier between hosts; no two networks have the same at a time'`,
    );
    await q.query(`
      CREATE TABLE host_underlay (
        host_id uuid PRIMARY KEY,
        address inet CHECK (family(address) = 4 AND masklen(address) = 32),
        mtu integer,
        usable boolean NOT NULL DEFAULT false,
        sync_task uuid
      )`);
    await q.query(`COMMENT ON COLUMN host_underlay.address IS 'Where other hosts reach it, as it says; null: nowhere'`);
    await q.query(`COMMENT ON COLUMN host_underlay.usable IS 'It takes part in networks that cross hosts'`);
    await q.query(
      `COMMENT ON COLUMN host_underlay.sync_task IS 'The last task that was started to tell it of changes on other hosts'`,
    );
    await q.query(`
      CREATE TABLE network_change (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        network_id uuid NOT NULL,
        host_id uuid NOT NULL
      )`);
    await q.query(
      `COMMENT ON TABLE network_change IS 'Ports of the network on this host have changed: others are to hear of it'`,
    );
    await q.query(`
      CREATE TABLE host_network_due (
        host_id uuid PRIMARY KEY,
        since timestamptz NOT NULL
      )`);
    await q.query(
      `COMMENT ON TABLE host_network_due IS 'Hosts that are to be given a document from after this time, for something changed on others'`,
    );
    await q.query(`
      CREATE FUNCTION note_network_change(network uuid, host uuid) RETURNS void LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO network_change (network_id, host_id) SELECT network, host
         WHERE EXISTS (SELECT 1 FROM host_underlay WHERE host_id = host AND usable);
        IF FOUND THEN PERFORM pg_notify('network_change', ''); END IF;
      END $$`);
    await q.query(`
      CREATE FUNCTION port_changed() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF TG_OP <> 'INSERT' THEN PERFORM note_network_change(OLD.network_id, OLD.host_id); END IF;
        IF TG_OP = 'INSERT' OR (TG_OP = 'UPDATE' AND (OLD.network_id, OLD.host_id) IS DISTINCT FROM (NEW.network_id, NEW.host_id)) THEN
          PERFORM note_network_change(NEW.network_id, NEW.host_id);
        END IF;
        RETURN NULL;
      END $$`);
    await q.query(
      'CREATE TRIGGER port_comes AFTER INSERT ON port FOR EACH ROW WHEN (NEW.attached) EXECUTE FUNCTION port_changed()',
    );
    await q.query(
      `CREATE TRIGGER port_changes AFTER UPDATE OF attached, host_id, mac ON port FOR EACH ROW
       WHEN ((OLD.attached OR NEW.attached) AND (OLD.attached, OLD.host_id, OLD.mac) IS DISTINCT FROM (NEW.attached, NEW.host_id, NEW.mac))
       EXECUTE FUNCTION port_changed()`,
    );
    await q.query(
      'CREATE TRIGGER port_goes AFTER DELETE ON port FOR EACH ROW WHEN (OLD.attached) EXECUTE FUNCTION port_changed()',
    );
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
