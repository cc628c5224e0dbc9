import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A subnet on a router, by its gateway's address. All subnets of a network that are on one are on the same. */
@Entity('router_interface')
export class RouterInterfaceEntity {
  @Column('uuid', { name: 'router_id' }) routerId!: string;
  @Column('uuid', { name: 'network_id' }) networkId!: string;
  @PrimaryColumn('uuid', { name: 'subnet_id' }) subnetId!: string;
  /** The subnet's: those of one router do not overlap. */
  @Column('cidr') cidr!: string;
}
