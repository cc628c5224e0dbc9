import { Column, Entity, PrimaryColumn } from 'typeorm';
import { bigintAsNumber } from '../../../core/db/rows/transformers';
import type { Volume } from '../contract/storage.api';

@Entity('volume')
export class VolumeEntity {
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid', { name: 'project_id' }) projectId!: string;
  @Column('text') name!: string;
  @Column('text') role!: Volume['role'];
  @Column('text') state!: Volume['state'];
  @Column('bigint', { transformer: bigintAsNumber }) bytes!: number;
  @Column('text') pool!: string;
  @Column('uuid', { name: 'host_id' }) hostId!: string;
  @Column('uuid', { name: 'instance_id' }) instanceId!: string;
  @Column('uuid', { name: 'image_id' }) imageId!: string;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}
