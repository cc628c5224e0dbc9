import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ConditionStatus } from '../hosts/host-state';

@Entity('host_condition')
export class HostConditionEntity {
  @PrimaryColumn('uuid', { name: 'host_id' }) hostId!: string;
  @PrimaryColumn('text') type!: string;
  @Column('text') status!: ConditionStatus;
  @Column('text') reason!: string;
  @Column('text') message!: string;
  /** When the status last changed. */
  @Column('timestamptz') since!: Date;
}
