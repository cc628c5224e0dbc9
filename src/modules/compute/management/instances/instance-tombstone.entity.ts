import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What a deleted instance may still have on a host that did not answer: removed once the host is back. */
@Entity('instance_tombstone')
export class InstanceTombstoneEntity {
  @PrimaryColumn('uuid', { name: 'instance_id' }) instanceId!: string;
  @Column('uuid', { name: 'host_id' }) hostId!: string;
  @Column('integer') generation!: number;
  @Column('uuid', { name: 'volume_id', nullable: true }) volumeId!: string | null;
  /** Of one that was in rescue. */
  @Column('uuid', { name: 'rescue_volume_id', nullable: true }) rescueVolumeId!: string | null;
  /** Of both. */
  @Column('text', { nullable: true }) pool!: string | null;
}
