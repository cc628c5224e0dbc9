import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ConfirmedLeftover } from '../../contract/leftover';

@Entity('host_leftovers')
export class HostLeftoversEntity {
  @PrimaryColumn('uuid', { name: 'host_id' }) hostId!: string;
  /** By the host's clock. */
  @Column('timestamptz', { name: 'scanned_at' }) scannedAt!: Date;
  /** Of those that it reported, what no row claimed. */
  @Column('jsonb') unclaimed!: ConfirmedLeftover[];
}
