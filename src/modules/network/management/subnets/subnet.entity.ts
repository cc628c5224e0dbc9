import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A range of addresses of a network. Those of one network do not overlap. */
@Entity('subnet')
export class SubnetEntity {
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid', { name: 'project_id' }) projectId!: string;
  @Column('uuid', { name: 'network_id' }) networkId!: string;
  @Column('text') name!: string;
  /** `a.b.c.d/n`. */
  @Column('cidr') cidr!: string;
  @Column('inet') gateway!: string;
  @Column('text', { array: true }) dns!: string[];
  /**
   * Where the search for a free address goes on: an address is not given out again while others were not given out at
   * all.
   */
  @Column('inet', { name: 'next_address' }) nextAddress!: string;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}
