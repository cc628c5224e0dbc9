import { Column, Entity, PrimaryColumn } from 'typeorm';
import { bigintAsNumber } from '../../../../core/db/rows/transformers';
import type { NodeRevisions } from '../../../../core/m2m/verbs/revisions';
import type { NodeRoom } from '../../contract/cpu-topology';
import type { HostState } from '../../contract/host.api';
import type { HugePages } from '../../contract/page-sizes';
import type { HostParts, HostStore } from '../../contract/host-needs';

@Entity('host')
export class HostEntity {
  @PrimaryColumn('uuid') id!: string;
  @Column('text') name!: string;
  @Column('text') address!: string;
  @Column('integer') port!: number;
  @Column('text') state!: HostState;
  @Column('boolean') schedulable!: boolean;
  /** Why it is not `ready`, in words; empty when it is. */
  @Column('text', { name: 'state_reason' }) stateReason!: string;
  @Column('timestamptz', { name: 'last_seen_at', nullable: true }) lastSeenAt!: Date | null;
  /** False once the host was found silent, or before its first heartbeat. */
  @Column('boolean', { name: 'heartbeat_ok' }) heartbeatOk!: boolean;
  @Column('boolean', { name: 'clock_ok' }) clockOk!: boolean;
  @Column('text', { name: 'agent_version' }) agentVersion!: string;
  /** Copies of what placement needs of the inventory. */
  @Column('text') architecture!: string;
  /** That instances share: not those that are set aside. */
  @Column('integer') threads!: number;
  /** Its NUMA nodes that have CPUs set aside for instances of their own. */
  @Column('jsonb') nodes!: NodeRoom[];
  /** Without huge pages. */
  @Column('bigint', { name: 'memory_bytes', transformer: bigintAsNumber }) memoryBytes!: number;
  @Column('jsonb', { name: 'huge_pages' }) hugePages!: HugePages;
  @Column('bigint', { name: 'disk_bytes', transformer: bigintAsNumber }) diskBytes!: number;
  @Column('jsonb') parts!: HostParts;
  @Column('jsonb') stores!: HostStore[];
  /** What its agent understands; null for one from before revisions were told. */
  @Column('jsonb', { nullable: true }) revisions!: NodeRevisions | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}
