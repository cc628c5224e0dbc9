/** A request as the server saw it. */
interface SeenRequest {
  method: string;
  path: string;
  token: string | undefined;
  key: string | undefined;
  body: Record<string, unknown>;
}

type Reply = { status: number; body?: unknown };

/**
 * The server's side of sessions, by its rules: an access token is good until it ends, a refresh token once, and who
 * uses one twice loses the whole session.
 */
export class FakeServer {
  readonly seen: SeenRequest[] = [];
  /** Answers what is no session's. */
  answer: (request: SeenRequest) => Reply | Promise<Reply> = () => ({ status: 200, body: { ok: true } });
  /** Does not answer at all. */
  away = false;
  private number = 0;
  private ended = false;
  private readonly access = new Set<string>();
  private refresh = '';
  private readonly used = new Set<string>();

  /** Lets the access tokens run out that were given so far. */
  readonly expire = (): void => this.access.clear();
  /** As an administrator who ends the session. */
  readonly end = (): void => {
    this.ended = true;
    this.access.clear();
  };

  readonly count = (path: string): number => this.seen.filter((request) => request.path === path).length;

  readonly fetch = async (url: string, init: RequestInit = {}): Promise<Response> => {
    await Promise.resolve();
    if (this.away) throw new TypeError('fetch failed');
    if (url === '/health') return new Response('{}');
    const headers = new Headers(init.headers);
    const request: SeenRequest = {
      method: init.method ?? 'GET',
      path: url.replace('/api/v1', ''),
      token: headers.get('authorization')?.replace('Bearer ', ''),
      key: headers.get('idempotency-key') ?? undefined,
      body: typeof init.body === 'string' ? (JSON.parse(init.body) as Record<string, unknown>) : {},
    };
    this.seen.push(request);
    const { status, body } = await this.replyTo(request);
    return status === 204
      ? new Response(null, { status })
      : new Response(JSON.stringify(body ?? { code: 'unauthenticated', status }), { status });
  };

  private replyTo(request: SeenRequest): Reply | Promise<Reply> {
    if (request.path === '/login')
      return request.body['password'] === 'right'
        ? this.tokens()
        : { status: 401, body: { code: 'wrong_credentials' } };
    if (request.path === '/login/refresh') {
      const token = String(request.body['refreshToken']);
      if (this.used.has(token)) this.end();
      if (this.ended || token !== this.refresh) return { status: 401 };
      this.used.add(token);
      return this.tokens();
    }
    if (!this.access.has(request.token ?? '')) return { status: 401 };
    if (request.path === '/logout') {
      this.end();
      return { status: 204 };
    }
    return this.answer(request);
  }

  private tokens(): Reply {
    this.ended = false;
    this.number += 1;
    this.access.add(`access-${this.number}`);
    this.refresh = `refresh-${this.number}`;
    const body = {
      accessToken: `access-${this.number}`,
      expiresIn: 900,
      refreshToken: this.refresh,
      refreshExpiresIn: 86_400,
    };
    return { status: 200, body };
  }
}
