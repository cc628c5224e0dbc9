/**
 * Reads SSH's binary form (RFC 4251): fields with their length in front. Throws at a field that the bytes do not hold.
 */
export class SshWire {
  private at = 0;

  constructor(private readonly bytes: Buffer) {}

  string(): Buffer {
    if (this.bytes.length - this.at < 4) throw new Error('it ends too early');
    const length = this.bytes.readUInt32BE(this.at);
    const from = this.at + 4;
    if (this.bytes.length - from < length) throw new Error('it ends too early');
    this.at = from + length;
    return this.bytes.subarray(from, this.at);
  }

  /** A positive integer, without leading zeros; empty for zero. */
  mpint(): Buffer {
    const value = this.string();
    if (((value[0] ?? 0) & 0x80) !== 0) throw new Error('a number is negative');
    const first = value.findIndex((byte) => byte !== 0);
    return first < 0 ? value.subarray(value.length) : value.subarray(first);
  }

  /** Throws unless everything was read. */
  end(): void {
    if (this.at !== this.bytes.length) throw new Error('there are bytes behind it');
  }
}
