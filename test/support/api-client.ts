import { Agent, request } from 'undici';

export interface Answer<T = Record<string, unknown>> {
  status: number;
  body: T;
  headers: Record<string, string | string[] | undefined>;
}

/**
 * A plain REST client for tests: no retries, every status is an answer. The server's certificate is not checked here;
 * other tests do.
 */
export class ApiClient {
  private readonly dispatcher: Agent;
  token = '';
  /** Longest wait for an answer, in milliseconds. An upload is answered when its image is unfolded and hashed. */
  patienceMs = 120_000;

  /**
   * @param keepAlive uses connections again, as a user's client does; off where management is killed and restarted
   *   under the test
   * @param localAddress calls from this address of the machine
   */
  constructor(
    readonly url: string,
    private readonly keepAlive = false,
    localAddress?: string,
  ) {
    this.dispatcher = new Agent({
      connect: { rejectUnauthorized: false },
      ...(localAddress !== undefined && { localAddress }),
    });
  }

  async call<T = Record<string, unknown>>(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer<T>> {
    const raw = typeof body === 'string' || Buffer.isBuffer(body);
    const response = await request(`${this.url}/api/v1${path}`, {
      method,
      dispatcher: this.dispatcher,
      reset: !this.keepAlive,
      headers: {
        ...(this.token !== '' && { authorization: `Bearer ${this.token}` }),
        ...(body !== undefined && {
          'content-type': Buffer.isBuffer(body) ? 'application/octet-stream' : 'application/json',
        }),
        ...headers,
      },
      ...(body !== undefined && { body: raw ? body : JSON.stringify(body) }),
      headersTimeout: this.patienceMs,
      bodyTimeout: this.patienceMs,
    });
    const text = await response.body.text();
    return {
      status: response.statusCode,
      body: (text === '' ? undefined : JSON.parse(text)) as T,
      headers: response.headers,
    };
  }

  /** As `call`, for what must succeed: throws the problem document otherwise. */
  async ok<T = Record<string, unknown>>(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<T> {
    const answer = await this.call<T>(method, path, body, headers);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  async login(name: string, password: string): Promise<void> {
    const tokens = await this.ok<{ accessToken: string }>('POST', '/login', { name, password });
    this.token = tokens.accessToken;
  }

  close(): Promise<void> {
    return this.dispatcher.close();
  }
}
