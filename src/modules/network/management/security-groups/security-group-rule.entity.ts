import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('security_group_rule')
export class SecurityGroupRuleEntity {
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid', { name: 'group_id' }) groupId!: string;
  @Column('text') direction!: 'ingress' | 'egress';
  @Column('text') ethertype!: 'ipv4' | 'ipv6';
  /** IANA's number; null: any. */
  @Column('integer', { nullable: true }) protocol!: number | null;
  @Column('integer', { name: 'port_min', nullable: true }) portMin!: number | null;
  @Column('integer', { name: 'port_max', nullable: true }) portMax!: number | null;
  @Column('integer', { name: 'icmp_type', nullable: true }) icmpType!: number | null;
  @Column('integer', { name: 'icmp_code', nullable: true }) icmpCode!: number | null;
  @Column('cidr', { name: 'remote_cidr', nullable: true }) remoteCidr!: string | null;
  @Column('uuid', { name: 'remote_group_id', nullable: true }) remoteGroupId!: string | null;
  @Column('text') description!: string;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}
