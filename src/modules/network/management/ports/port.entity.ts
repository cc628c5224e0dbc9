import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('port')
export class PortEntity {
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid', { name: 'project_id' }) projectId!: string;
  @Column('uuid', { name: 'network_id' }) networkId!: string;
  @Column('uuid', { name: 'instance_id' }) instanceId!: string;
  @Column('uuid', { name: 'host_id' }) hostId!: string;
  @Column('text') hostname!: string;
  /** Which NIC of the instance, from 0. */
  @Column('integer') position!: number;
  /** Its user asked for the default route to go this way. */
  @Column('boolean', { name: 'default_route' }) defaultRoute!: boolean;
  @Column('macaddr') mac!: string;
  @Column('inet') address!: string;
  @Column('text') state!: 'down' | 'active' | 'error';
  @Column('text') message!: string;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}
