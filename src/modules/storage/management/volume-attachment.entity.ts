import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Which instance has a data volume, from the moment that it is asked for until it is gone from there. */
@Entity('volume_attachment')
export class VolumeAttachmentEntity {
  @PrimaryColumn('uuid', { name: 'volume_id' }) volumeId!: string;
  @PrimaryColumn('uuid', { name: 'instance_id' }) instanceId!: string;
  /** Which disk of the instance, from 1: the root disk is 0. */
  @Column('integer') position!: number;
  @Column('text') mode!: 'rw' | 'ro';
}
