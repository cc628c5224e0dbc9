import { Column, Entity, PrimaryColumn } from 'typeorm';
import { bigintAsNumber } from '../../../../core/db/rows/transformers';
import type { Image } from '../../contract/image.api';

@Entity('image')
export class ImageEntity {
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid', { name: 'project_id' }) projectId!: string;
  @Column('text') name!: string;
  @Column('text') description!: string;
  @Column('text') state!: Image['state'];
  @Column('text') message!: string;
  @Column('boolean') public!: boolean;
  @Column('text', { nullable: true }) url!: string | null;
  /** `sha256:<hex>` or `sha512:<hex>` in lower case, as the user promised; null when nothing was promised. */
  @Column('text', { nullable: true }) checksum!: string | null;
  @Column('text', { name: 'claimed_format', nullable: true }) claimedFormat!: 'raw' | 'qcow2' | null;
  @Column('text', { name: 'source_format', nullable: true }) sourceFormat!: 'raw' | 'qcow2' | null;
  @Column('bigint', { name: 'source_bytes', nullable: true, transformer: bigintAsNumber }) sourceBytes!: number | null;
  @Column('bigint', { name: 'virtual_bytes', nullable: true, transformer: bigintAsNumber }) virtualBytes!:
    | number
    | null;
  /** What the stored file takes on the disk, its holes not counted. */
  @Column('bigint', { name: 'stored_bytes', nullable: true, transformer: bigintAsNumber }) storedBytes!: number | null;
  @Column('text', { nullable: true }) sha256!: string | null;
  @Column('text') architecture!: string;
  @Column('text') firmware!: Image['firmware'];
  @Column('text', { nullable: true }) vmm!: string | null;
  /** What its own kernel is told; null when it brings none. */
  @Column('text', { name: 'command_line', nullable: true }) commandLine!: string | null;
  /** Both null until the bytes have come. */
  @Column('text', { name: 'kernel_sha256', nullable: true }) kernelSha256!: string | null;
  @Column('bigint', { name: 'kernel_bytes', nullable: true, transformer: bigintAsNumber }) kernelBytes!: number | null;
  @Column('text', { name: 'initramfs_sha256', nullable: true }) initramfsSha256!: string | null;
  @Column('bigint', { name: 'initramfs_bytes', nullable: true, transformer: bigintAsNumber }) initramfsBytes!:
    | number
    | null;
  /** Text, empty for none. */
  @Column('text', { name: 'vendor_data' }) vendorData!: string;
  @Column('uuid', { name: 'task_id', nullable: true }) taskId!: string | null;
  /** Process that receives an upload, and its last sign of life on the database's clock. */
  @Column('text', { name: 'worker', nullable: true }) worker!: string | null;
  @Column('timestamptz', { name: 'worker_seen_at', nullable: true }) workerSeenAt!: Date | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}
