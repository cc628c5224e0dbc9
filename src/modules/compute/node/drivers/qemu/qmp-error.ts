/**
 * QEMU refused a command (`class` and `desc` of its answer), or the monitor was lost (`class` is `ConnectionLost` or
 * `Timeout`).
 */
export class QmpError extends Error {
  constructor(
    readonly errorClass: string,
    message: string,
  ) {
    super(message);
    this.name = 'QmpError';
  }
}
