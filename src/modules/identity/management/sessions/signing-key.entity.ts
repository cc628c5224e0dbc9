import type { JWK } from 'jose';
import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('signing_key')
export class SigningKeyEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('text')
  algorithm!: string;

  @Column('jsonb', { name: 'public_jwk' })
  publicJwk!: JWK;

  /** PKCS #8, sealed with the master key for the purpose `signing-key/<id>`. */
  @Column('text', { name: 'private_sealed' })
  privateSealed!: string;

  @Column('timestamptz', { name: 'signs_until' })
  signsUntil!: Date;

  @Column('timestamptz', { name: 'verifies_until' })
  verifiesUntil!: Date;
}
