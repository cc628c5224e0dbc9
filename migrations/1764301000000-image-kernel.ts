import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ImageKernel1764301000000 implements MigrationInterface {
  name = 'ImageKernel1764301000000';

  /** The kernel that an image brings, its initramfs, and what the kernel is told. */
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE image
        ADD COLUMN command_line text CHECK (length(command_line) <= 2047),
        ADD COLUMN kernel_sha256 text,
        ADD COLUMN kernel_bytes bigint,
        ADD COLUMN initramfs_sha256 text,
        ADD COLUMN initramfs_bytes bigint,
        ADD CONSTRAINT image_kernel_whole CHECK ((kernel_sha256 IS NULL) = (kernel_bytes IS NULL)),
        ADD CONSTRAINT image_initramfs_whole CHECK ((initramfs_sha256 IS NULL) = (initramfs_bytes IS NULL)),
        ADD CONSTRAINT image_kernel_asked CHECK (command_line IS NOT NULL OR (kernel_sha256 IS NULL AND initramfs_sha256 IS NULL)),
        ADD CONSTRAINT image_kernel_there CHECK (state <> 'ready' OR command_line IS NULL OR kernel_sha256 IS NOT NULL)`);
    await runner.query('CREATE INDEX image_kernel_digest ON image (kernel_sha256) WHERE kernel_sha256 IS NOT NULL');
    await runner.query(
      'CREATE INDEX image_initramfs_digest ON image (initramfs_sha256) WHERE initramfs_sha256 IS NOT NULL',
    );
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
