/** A file that was verified, or is to be. `sha256`: of its bytes, lower-case hex. */
interface VerifiedFile {
  sha256: string;
  bytes: number;
}

export interface WantedImage {
  imageId: string;
  /** SHA-256 of the raw bytes of the disk, lower-case hex. */
  sha256: string;
  virtualBytes: number;
  /** Absent: the image brings none. */
  kernel?: (VerifiedFile & { initramfs: VerifiedFile | null }) | undefined;
}

/** The files of an image in the cache: as management calls them, and what their names end with. The disk comes last. */
export interface CachedFile extends VerifiedFile {
  name: 'content' | 'kernel' | 'initramfs';
  suffix: string;
}

export const suffixes = { content: '.raw', kernel: '.kernel', initramfs: '.initramfs' } as const;

/** The one under whose name an image stands comes last: where it is, the others are. */
export const filesOf = ({ sha256, virtualBytes, kernel }: Omit<WantedImage, 'imageId'>): CachedFile[] =>
  [
    ...(kernel ? [{ name: 'kernel' as const, sha256: kernel.sha256, bytes: kernel.bytes }] : []),
    ...(kernel?.initramfs ? [{ name: 'initramfs' as const, ...kernel.initramfs }] : []),
    { name: 'content' as const, sha256, bytes: virtualBytes },
  ].map((file) => ({ ...file, suffix: suffixes[file.name] }));
