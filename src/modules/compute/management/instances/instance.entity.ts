import { Column, Entity, PrimaryColumn } from 'typeorm';
import { bigintAsNumber } from '../../../../core/db/rows/transformers';
import type { DriveForm } from '../../../network/contract/drive-forms';
import type { InstancePort, WantedNic } from '../../../network/contract/network.ports';
import type { AskedOfHardware } from '../../contract/hardware';
import type { Limits } from '../../contract/limits';
import type { AskedOfMachine } from '../../contract/machine-options';
import type { AskedShare } from '../../contract/shares';
import type { RestartPolicy } from '../../contract/restart-policies';
import type { InstanceState } from '../../contract/instance-states';
import type { InstanceExit, InstanceGuest } from '../../contract/instance.verbs';

/** What is shown of an instance: what its guest was given may be large, and a page of them need not read it. */
export const shownOfInstance = [
  'id',
  'projectId',
  'name',
  'hostname',
  'description',
  'flavorId',
  'flavorName',
  'vcpus',
  'memoryBytes',
  'diskBytes',
  'imageId',
  'imageName',
  'sshKeys',
  'configDrive',
  'machine',
  'maxVcpus',
  'maxMemoryBytes',
  'limits',
  'hardware',
  'shares',
  'stopGraceSeconds',
  'wantedVmm',
  'tags',
  'metadata',
  'protected',
  'lock',
  'hostId',
  'dedicatedCpus',
  'vmm',
  'state',
  'stateReason',
  'taskId',
  'observedState',
  'observedAt',
  'startedAt',
  'lastExit',
  'restartPolicy',
  'guest',
  'rescue',
  'createdAt',
] as const satisfies readonly (keyof InstanceEntity)[];
/** `ports`: where they were read with it. */
export type ShownInstance = Pick<InstanceEntity, (typeof shownOfInstance)[number]> & { ports?: InstancePort[] };

/** `by`: principal id; `at`: RFC 3339. */
export interface InstanceLock {
  reason: string;
  by: string;
  at: string;
}

/** Rows of before there were programs beside machines say nothing of them. */
export type RecordedGuest = Omit<InstanceGuest, 'lost'> & Partial<Pick<InstanceGuest, 'lost'>>;

/** What it boots from while it is in rescue. */
export interface InstanceRescue {
  imageId: string;
  imageName: string;
  firmware: InstanceEntity['firmware'];
  /** Absent in rescues of before images could bring one. */
  kernel?: InstanceKernel | null;
}

/** Of the image: how the kernel is booted that lies beside the disk. */
export interface InstanceKernel {
  commandLine: string;
  initramfs: boolean;
}

@Entity('instance')
export class InstanceEntity {
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid', { name: 'project_id' }) projectId!: string;
  @Column('text') name!: string;
  @Column('text') hostname!: string;
  @Column('text') description!: string;
  @Column('uuid', { name: 'flavor_id' }) flavorId!: string;
  @Column('text', { name: 'flavor_name' }) flavorName!: string;
  @Column('integer') vcpus!: number;
  @Column('bigint', { name: 'memory_bytes', transformer: bigintAsNumber }) memoryBytes!: number;
  /** Of the root disk: the flavor's, or the image's when that is larger. */
  @Column('bigint', { name: 'disk_bytes', transformer: bigintAsNumber }) diskBytes!: number;
  @Column('uuid', { name: 'image_id' }) imageId!: string;
  @Column('text', { name: 'image_name' }) imageName!: string;
  @Column('text') architecture!: string;
  /** What boots the image; `any` leaves it to the host's VMM. */
  @Column('text') firmware!: 'any' | 'bios' | 'uefi';
  /** Of its image; null when what is on the disk boots it. */
  @Column('jsonb', { nullable: true }) kernel!: InstanceKernel | null;
  @Column('jsonb') nics!: WantedNic[];
  @Column('jsonb', { name: 'ssh_keys' }) sshKeys!: string[];
  /** Base64, as the user gave it. Never in answers, events or logs. */
  @Column('text', { name: 'user_data' }) userData!: string;
  /** Of its flavor when it was made; text, empty for none. */
  @Column('text', { name: 'vendor_data' }) vendorData!: string;
  @Column('text', { name: 'config_drive', nullable: true }) configDrive!: DriveForm | null;
  /** Options of the machine that are on. */
  @Column('jsonb') machine!: AskedOfMachine;
  /** The most that it may get while it runs; null: what it has. */
  @Column('integer', { name: 'max_vcpus', nullable: true }) maxVcpus!: number | null;
  @Column('bigint', { name: 'max_memory_bytes', nullable: true, transformer: bigintAsNumber })
  maxMemoryBytes!: number | null;
  /** Of its flavor when it was made or resized. */
  @Column('jsonb') limits!: Limits;
  /** As `limits`: what is asked of its hardware. */
  @Column('jsonb') hardware!: AskedOfHardware;
  /** Directories of its host that its guest can mount, by their names. */
  @Column('jsonb') shares!: AskedShare[];
  @Column('integer', { name: 'stop_grace_seconds' }) stopGraceSeconds!: number;
  @Column('uuid', { name: 'wanted_host_id', nullable: true }) wantedHostId!: string | null;
  @Column('uuid', { name: 'host_id', nullable: true }) hostId!: string | null;
  /** CPUs of its host by vCPU, that it has for itself, as the host said last. */
  @Column('jsonb', { name: 'dedicated_cpus', nullable: true }) dedicatedCpus!: number[] | null;
  /** Of the newest report. */
  @Column('text', { nullable: true }) vmm!: string | null;
  /** Asked for by its user or its flavor; null leaves it to the host. */
  @Column('text', { name: 'wanted_vmm', nullable: true }) wantedVmm!: string | null;
  /** In order, each once. */
  @Column('jsonb') tags!: string[];
  /** What its guest reads of it by key. */
  @Column('jsonb') metadata!: Record<string, string>;
  /** Deleting it is refused. */
  @Column('boolean') protected!: boolean;
  /** Who locked it and when; null when nobody has. */
  @Column('jsonb', { nullable: true }) lock!: InstanceLock | null;
  @Column('text') state!: InstanceState;
  @Column('text', { name: 'state_reason' }) stateReason!: string;
  /** What the user wants; the node is told by generation. */
  @Column('text') power!: 'on' | 'off';
  @Column('integer') generation!: number;
  @Column('uuid', { name: 'task_id', nullable: true }) taskId!: string | null;
  @Column('text', { name: 'observed_state', nullable: true }) observedState!: string | null;
  @Column('timestamptz', { name: 'observed_at', nullable: true }) observedAt!: Date | null;
  /** Of the newest report that was taken: what left the host before it changes nothing. */
  @Column('bigint', { name: 'observed_revision', transformer: bigintAsNumber }) observedRevision!: number;
  @Column('timestamptz', { name: 'started_at', nullable: true }) startedAt!: Date | null;
  /** How its last machine ended. */
  @Column('jsonb', { name: 'last_exit', nullable: true }) lastExit!: InstanceExit | null;
  /** Its host is told at each start. */
  @Column('text', { name: 'restart_policy' }) restartPolicy!: RestartPolicy;
  /** What its guest did since its machine was started, of the newest report. */
  @Column('jsonb', { nullable: true }) guest!: RecordedGuest | null;
  /** Null when it is not in rescue. */
  @Column('jsonb', { nullable: true }) rescue!: InstanceRescue | null;
  @Column('text', { name: 'created_by' }) createdBy!: string;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}
