import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('router')
export class RouterEntity {
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid', { name: 'project_id' }) projectId!: string;
  @Column('text') name!: string;
  @Column('text') description!: string;
  /** Its subnets reach the outside by source NAT; without, each other only. */
  @Column('boolean') snat!: boolean;
  /** The network that it was made with, as its way out: it goes with it. Null: it was made by itself. */
  @Column('uuid', { name: 'with_network_id', nullable: true }) withNetworkId!: string | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}
