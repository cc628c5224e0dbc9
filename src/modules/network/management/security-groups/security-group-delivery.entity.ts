import { Column, Entity, PrimaryColumn } from 'typeorm';
import { bigintAsNumber } from '../../../../core/db/rows/transformers';

/** Which version of a group a host's documents say, and since which of their generations. */
@Entity('security_group_delivery')
export class SecurityGroupDeliveryEntity {
  @PrimaryColumn('uuid', { name: 'host_id' }) hostId!: string;
  @PrimaryColumn('uuid', { name: 'group_id' }) groupId!: string;
  @Column('bigint', { transformer: bigintAsNumber }) version!: number;
  @Column('bigint', { transformer: bigintAsNumber }) generation!: number;
}
