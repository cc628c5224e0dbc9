import { Column, Entity, PrimaryColumn } from 'typeorm';

/** An address that a port has. */
@Entity('port_address')
export class PortAddressEntity {
  @Column('uuid', { name: 'port_id' }) portId!: string;
  @PrimaryColumn('uuid', { name: 'subnet_id' }) subnetId!: string;
  @PrimaryColumn('inet') address!: string;
  /** From 0. The first one comes by DHCP. */
  @Column('integer') position!: number;
}
