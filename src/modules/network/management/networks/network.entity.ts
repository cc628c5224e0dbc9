import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('network')
export class NetworkEntity {
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid', { name: 'project_id' }) projectId!: string;
  @Column('text') name!: string;
  @Column('text') description!: string;
  /** `a.b.c.d/n`. */
  @Column('cidr') subnet!: string;
  @Column('inet') gateway!: string;
  @Column('text', { array: true }) dns!: string[];
  @Column('boolean') nat!: boolean;
  @Column('integer') mtu!: number;
  /**
   * Where the search for a free address goes on: an address is not given out again while others were not given out at
   * all.
   */
  @Column('inet', { name: 'next_address' }) nextAddress!: string;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}
