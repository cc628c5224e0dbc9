import { Column, Entity, PrimaryColumn } from 'typeorm';

/** An address that was released and may not be given out before `until`. */
@Entity('address_cooldown')
export class AddressCooldownEntity {
  @PrimaryColumn('uuid', { name: 'subnet_id' }) subnetId!: string;
  @PrimaryColumn('inet') address!: string;
  @Column('timestamptz') until!: Date;
}
