import { injectable } from 'inversify';
import { Config } from '../../../../core/config/config';
import type { ImageConfig } from '../../contract/image.config';
import { ImageFiles } from '../images/image-files';

const lookMs = 250;

const noRoom = (): Error =>
  Object.assign(new Error('the disk has no room for the image beside its reserve'), { code: 'ENOSPC' });

/** Room on the disk that one piece of work on an image counts on. */
export interface SpaceHold {
  /** Fires with an `ENOSPC` error once the disk's reserve is touched. */
  readonly signal: AbortSignal;
  /**
   * From here on so many bytes will be written. Throws `ENOSPC` when they, and what others have been promised, do not
   * fit.
   */
  expect(bytes: number): Promise<void>;
  /** So many of them have been written. */
  wrote(bytes: number): void;
  close(): void;
}

class Hold implements SpaceHold {
  readonly controller = new AbortController();
  readonly signal = this.controller.signal;
  expected = 0;
  written = 0;

  constructor(
    private readonly admit: (hold: Hold, bytes: number) => Promise<void>,
    private readonly leave: (hold: Hold) => void,
  ) {}

  get missing(): number {
    return Math.max(0, this.expected - this.written);
  }

  expect(bytes: number): Promise<void> {
    return this.admit(this, bytes);
  }

  wrote(bytes: number): void {
    this.written = bytes;
  }

  close(): void {
    this.leave(this);
  }
}

/**
 * Who may write how much to the images' disk. The database is often on the same one: bytes of strangers never take its
 * last `reserveBytes`. What is known beforehand is refused beforehand; what is not is stopped while it grows, the
 * youngest work first.
 */
@injectable()
export class ImageSpace {
  private readonly reserveBytes: number;
  private readonly holds = new Set<Hold>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly files: ImageFiles,
    config: Config,
  ) {
    this.reserveBytes = config.section<ImageConfig>('image').reserveBytes;
  }

  open(): SpaceHold {
    const hold = new Hold(
      (mine, bytes) => this.admit(mine, bytes),
      (mine) => this.leave(mine),
    );
    this.holds.add(hold);
    // eslint-disable-next-line no-restricted-globals -- ends with the last one that writes
    this.timer ??= setInterval(() => void this.look().catch(() => undefined), lookMs);
    return hold;
  }

  private async admit(hold: Hold, bytes: number): Promise<void> {
    const before = hold.expected;
    // Promised before it is looked at: of two that ask at once the second one must see the first.
    hold.expected = bytes;
    hold.written = 0;
    let promised = 0;
    for (const each of this.holds) promised += each.missing;
    if (promised + this.reserveBytes <= (await this.files.freeBytes())) return;
    hold.expected = before;
    throw noRoom();
  }

  private async look(): Promise<void> {
    if ((await this.files.freeBytes()) >= this.reserveBytes) return;
    const youngest = [...this.holds].filter((hold) => !hold.signal.aborted).at(-1);
    youngest?.controller.abort(noRoom());
  }

  private leave(hold: Hold): void {
    this.holds.delete(hold);
    if (this.holds.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}
