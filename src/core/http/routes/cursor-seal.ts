import { createHash, timingSafeEqual } from 'node:crypto';
import type { MasterKey } from '../../crypto/master-key';
import { invalidCursor } from '../../db/rows/cursor';

const purpose = 'list-cursor';
const tagBytes = 16;

/**
 * Binds a list's cursors to the very list: its path, filter, sort order and project. One of another list, or one that
 * was made up, is refused. How many are asked for at a time may change from page to page.
 */
export class CursorSeal {
  private readonly context: string;

  /** @param list what the cursor belongs to: path with parameters, parsed query, project */
  constructor(
    private readonly key: MasterKey,
    list: { path: string; params: unknown; query: object; project: string | undefined },
  ) {
    const query = Object.fromEntries(
      Object.entries(list.query)
        .filter(([name, value]) => name !== 'cursor' && name !== 'limit' && value !== undefined)
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    );
    this.context = createHash('sha256')
      .update(JSON.stringify([list.path, list.params ?? null, query, list.project ?? null]))
      .digest('base64url');
  }

  seal(cursor: string): string {
    return `${this.tag(cursor).toString('base64url')}.${cursor}`;
  }

  /** The list's own cursor. Throws 400 `invalid_cursor`. */
  open(sealed: string): string {
    const dot = sealed.indexOf('.');
    const cursor = sealed.slice(dot + 1);
    const given = Buffer.from(sealed.slice(0, Math.max(dot, 0)), 'base64url');
    if (dot < 0 || given.length !== tagBytes || !timingSafeEqual(given, this.tag(cursor))) throw invalidCursor();
    return cursor;
  }

  private tag(cursor: string): Buffer {
    return this.key.mac(`${this.context} ${cursor}`, purpose).subarray(0, tagBytes);
  }
}
