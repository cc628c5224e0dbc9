import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';

@Entity('api_token')
export class ApiTokenEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid', { name: 'user_id' })
  userId!: string;

  @Column('text')
  name!: string;

  /** SHA-256 of the secret part. */
  @Column('bytea')
  hash!: Buffer;

  /** Null: all permissions of its user. */
  @Column('text', { array: true, nullable: true })
  scopes!: string[] | null;

  @CreateDateColumn({ type: 'timestamptz', name: 'created_at' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'expires_at', nullable: true })
  expiresAt!: Date | null;

  @Column('timestamptz', { name: 'last_used_at', nullable: true })
  lastUsedAt!: Date | null;
}
