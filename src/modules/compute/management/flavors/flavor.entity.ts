import { Column, Entity, PrimaryColumn } from 'typeorm';
import { bigintAsNumber } from '../../../../core/db/rows/transformers';
import type { AskedOfHardware } from '../../contract/hardware';
import type { Limits } from '../../contract/limits';

@Entity('flavor')
export class FlavorEntity {
  @PrimaryColumn('uuid') id!: string;
  @Column('text') name!: string;
  @Column('text') description!: string;
  @Column('integer') vcpus!: number;
  @Column('bigint', { name: 'memory_bytes', transformer: bigintAsNumber }) memoryBytes!: number;
  @Column('bigint', { name: 'disk_bytes', transformer: bigintAsNumber }) diskBytes!: number;
  /** Text, empty for none. */
  @Column('text', { name: 'vendor_data' }) vendorData!: string;
  /** Kind of VMM; null for any. */
  @Column('text', { nullable: true }) vmm!: string | null;
  /** How fast disks and cards are. */
  @Column('jsonb') limits!: Limits;
  /** What is asked of the hardware. */
  @Column('jsonb') hardware!: AskedOfHardware;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}
