import { Column, Entity, PrimaryColumn } from 'typeorm';
import { bigintAsNumber } from '../../../../core/db/rows/transformers';

@Entity('security_group')
export class SecurityGroupEntity {
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid', { name: 'project_id' }) projectId!: string;
  @Column('text') name!: string;
  @Column('text') description!: string;
  @Column('boolean', { name: 'is_default' }) isDefault!: boolean;
  /** Grows with every change of its rules or members that hosts must hear of. */
  @Column('bigint', { transformer: bigintAsNumber }) version!: number;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}
