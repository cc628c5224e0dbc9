import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';

@Entity('app_user')
export class UserEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('text')
  name!: string;

  @Column('text', { name: 'password_hash' })
  passwordHash!: string;

  @Column('boolean')
  admin!: boolean;

  @Column('boolean')
  enabled!: boolean;

  @CreateDateColumn({ type: 'timestamptz', name: 'created_at' })
  createdAt!: Date;
}
