import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A one-time enrolment token; only the hash of its secret is stored. */
@Entity('host_token')
export class HostTokenEntity {
  @PrimaryColumn('uuid') id!: string;
  @Column('text', { name: 'secret_hash' }) secretHash!: string;
  @Column('text', { name: 'created_by' }) createdBy!: string;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'expires_at' }) expiresAt!: Date;
  @Column('timestamptz', { name: 'used_at', nullable: true }) usedAt!: Date | null;
  /** Hash of the public key that used it: the same key may ask again when the answer was lost. */
  @Column('text', { name: 'key_hash', nullable: true }) keyHash!: string | null;
  @Column('uuid', { name: 'host_id', nullable: true }) hostId!: string | null;
}
