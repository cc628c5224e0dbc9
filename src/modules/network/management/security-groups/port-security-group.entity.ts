import { Entity, PrimaryColumn } from 'typeorm';

/** That a port is in a group. */
@Entity('port_security_group')
export class PortSecurityGroupEntity {
  @PrimaryColumn('uuid', { name: 'port_id' }) portId!: string;
  @PrimaryColumn('uuid', { name: 'group_id' }) groupId!: string;
}
