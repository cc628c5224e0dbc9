import type { IncomingMessage } from 'node:http';
import { Problem } from '../../errors/problem';

/** Headers that mean nothing when they come twice: two readers could take different ones. */
const single = new Set([
  'host',
  'authorization',
  'content-length',
  'content-type',
  'transfer-encoding',
  'idempotency-key',
  'last-event-id',
  'if-match',
  'origin',
  'upgrade',
]);

const malformed = (): Problem => new Problem({ status: 400, code: 'malformed_path', detail: 'The path is not valid.' });

/**
 * The target of a request, as it was sent: path and what follows its question mark, nothing resolved or decoded. Throws
 * 400 `malformed_path` for everything but a plain path (no authority, no backslash, no fragment, valid escapes), and 400
 * `duplicate_header`.
 */
export const targetOf = (req: IncomingMessage): { path: string; search: string } => {
  const seen = new Set<string>();
  for (let i = 0; i < req.rawHeaders.length; i += 2) {
    const name = req.rawHeaders[i]?.toLowerCase() ?? '';
    if (single.has(name) && seen.has(name))
      throw new Problem({ status: 400, code: 'duplicate_header', detail: `The header ${name} is there twice.` });
    seen.add(name);
  }
  const target = req.url ?? '';
  if (!/^\/(?!\/)[\x21-\x7e]*$/.test(target) || /[\\#]/.test(target)) throw malformed();
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  try {
    if (decodeURIComponent(path).includes('\u0000')) throw malformed();
  } catch {
    throw malformed();
  }
  return { path, search: mark < 0 ? '' : target.slice(mark + 1) };
};
