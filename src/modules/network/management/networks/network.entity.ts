import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('network')
export class NetworkEntity {
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid', { name: 'project_id' }) projectId!: string;
  @Column('text') name!: string;
  @Column('text') description!: string;
  @Column('integer') mtu!: number;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}
