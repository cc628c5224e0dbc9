import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('ssh_key')
export class SshKeyEntity {
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid', { name: 'project_id' }) projectId!: string;
  @Column('text') name!: string;
  @Column('text') type!: string;
  @Column('text') fingerprint!: string;
  @Column('text', { name: 'public_key' }) publicKey!: string;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}
