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
  /** Of a root volume. */
  @Column('uuid', { name: 'instance_id', nullable: true }) instanceId!: string | null;
  @Column('uuid', { name: 'image_id', nullable: true }) imageId!: string | null;
  /** Deleting it is refused. */
  @Column('boolean') protected!: boolean;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}
