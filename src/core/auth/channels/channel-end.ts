import { Problem } from '../../errors/problem';

/**
 * Why a channel ends: its credential has (`unauthenticated`), its right has (`forbidden`), what it is about has
 * (`gone`), nobody can say at the moment (`unavailable`), or this process does (`server_stops`).
 */
export type ChannelEnd = 'unauthenticated' | 'forbidden' | 'gone' | 'unavailable' | 'server_stops';

const words: Record<ChannelEnd, { status: number; detail: string; retryAfterSeconds?: number }> = {
  unauthenticated: { status: 401, detail: 'The login or token that this was opened with has ended.' },
  forbidden: { status: 403, detail: 'The permission that this was opened with has been taken away.' },
  gone: { status: 404, detail: 'What this was about has been deleted.' },
  unavailable: {
    status: 503,
    detail: 'Whether this may go on cannot be verified at the moment. Try again.',
    retryAfterSeconds: 2,
  },
  server_stops: { status: 503, detail: 'This server stops. Try again.', retryAfterSeconds: 2 },
};

/** The same as a refusal. */
export const endProblem = (code: ChannelEnd): Problem => {
  const { status, detail, retryAfterSeconds } = words[code];
  return new Problem({
    status,
    code: code === 'gone' ? 'not_found' : code,
    detail,
    ...(retryAfterSeconds !== undefined && { extra: { retryAfterSeconds } }),
  });
};

/**
 * The close code of a WebSocket (4000 and the HTTP status) and its reason. A stopping server says 1001, as the protocol
 * has it.
 */
export const closeFrame = (code: ChannelEnd): { code: number; reason: string } => ({
  code: code === 'server_stops' ? 1001 : 4000 + words[code].status,
  reason: code,
});
