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
  /** Its first one, as in `port_address`: what lists show, and search. */
  @Column('inet') address!: string;
  @Column('text') state!: 'down' | 'active' | 'error';
  @Column('text') message!: string;
  /**
   * It is in its host's document. Not before something has begun that takes it from there again, or it would stay on the
   * host, brought there by the document of another, when its instance is not made after all.
   */
  @Column('boolean') attached!: boolean;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}
