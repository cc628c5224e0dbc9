import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What a deleted volume may still have on a host that did not answer: removed once the host is back. */
@Entity('volume_tombstone')
export class VolumeTombstoneEntity {
  @PrimaryColumn('uuid', { name: 'volume_id' }) volumeId!: string;
  @Column('uuid', { name: 'host_id' }) hostId!: string;
  @Column('text') pool!: string;
}
