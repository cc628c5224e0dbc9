import { Column, Entity, PrimaryColumn } from 'typeorm';
import { bigintAsNumber } from '../../../../core/db/rows/transformers';

/** The generation of the last document that was made for a host. */
@Entity('host_network_generation')
export class HostNetworkGenerationEntity {
  @PrimaryColumn('uuid', { name: 'host_id' }) hostId!: string;
  @Column('bigint', { transformer: bigintAsNumber }) generation!: number;
  @Column('timestamptz', { name: 'changed_at' }) changedAt!: Date;
}
