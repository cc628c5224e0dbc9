import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Inventory } from '../../contract/host.api';

@Entity('host_inventory')
export class HostInventoryEntity {
  @PrimaryColumn('uuid', { name: 'host_id' }) hostId!: string;
  @Column('jsonb') data!: Inventory;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}
