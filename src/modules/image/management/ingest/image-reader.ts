/** Random access to an image file. */
export interface ImageReader {
  /** Size of the file. */
  readonly bytes: number;
  /** Exactly `length` bytes from `offset`, or fewer at the end of the file. */
  read(offset: number, length: number): Promise<Buffer>;
}
