import { Agent, request } from 'undici';
import type { AnswerOf, BodyOf, CallOf, Method } from '../../src/rest/rest-call';
import type { Problem } from '../../src/rest/rest-paths';
import type { PathAt, TargetOf } from '../../src/rest/rest-url';

/** What a refusal says, with the members that single problems have beside those of all. */
export interface Refusal extends Partial<Problem> {
  /** Who or what uses the object that should go: the first ten, and how many there are. */
  users?: { kind: string; id: string; name: string; href: string; taskId?: string }[];
  count?: number;
  /** The task that is at work on it: by its id, or with its type where it has the lock. */
  task?: string | { id: string; type: string };
  /** Why an instance fits on none of them. */
  hosts?: { host: string; code: string; reason: string }[];
}

export interface Answer<T = Refusal> {
  status: number;
  body: T;
  headers: Record<string, string | string[] | undefined>;
}

type Verb = Uppercase<Method>;

type Headers = Record<string, string>;

/** What an operation answers, by the OpenAPI document. */
type Answered<V extends Verb, Target extends string> = AnswerOf<Lowercase<V>, PathAt<Lowercase<V>, Target>>;

/** The operation's answer, and what a refusal says in its place. */
type AnsweredOrRefused<T> = T extends object ? T & Omit<Refusal, keyof T> : Refusal;

/** A body as the operation's schema wants it, to be left out where it may be; bytes where it takes bytes. */
type Sending<M extends Method, P> = [BodyOf<M, P>] extends [never]
  ? [body?: Buffer, headers?: Headers]
  : CallOf<M, P> extends { body: unknown }
    ? [body: BodyOf<M, P>, headers?: Headers]
    : [body?: BodyOf<M, P>, headers?: Headers];

/**
 * A plain REST client for tests: no retries, every status is an answer. Path, query, body and answer are those of the
 * OpenAPI document, so that a test which asks for something else does not compile. The server's certificate is not
 * checked here; other tests do.
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

  /** The answer, whatever its status. */
  call<V extends Verb, const T extends string>(
    method: V,
    target: T & TargetOf<Lowercase<V>, T>,
    ...[body, headers]: Sending<Lowercase<V>, PathAt<Lowercase<V>, T>>
  ): Promise<Answer<AnsweredOrRefused<Answered<V, T>>>> {
    return this.unchecked(method, target, body, headers);
  }

  /** As `call`, for what must succeed: throws the problem document otherwise. */
  async ok<V extends Verb, const T extends string>(
    method: V,
    target: T & TargetOf<Lowercase<V>, T>,
    ...[body, headers]: Sending<Lowercase<V>, PathAt<Lowercase<V>, T>>
  ): Promise<Answered<V, T>> {
    const answer = await this.unchecked<Answered<V, T>>(method, target, body, headers);
    if (answer.status >= 300) throw new Error(`${method} ${target}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  /**
   * As `call`, for what no schema has: input that is wrong on purpose, a path that is known only when the test runs, a
   * module that the document does not know. A body that is a string is sent as it is.
   */
  async unchecked<T = Refusal>(
    method: Verb,
    target: string,
    body?: unknown,
    headers: Headers = {},
  ): Promise<Answer<T>> {
    const raw = typeof body === 'string' || Buffer.isBuffer(body);
    const response = await request(`${this.url}/api/v1${target}`, {
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

  async login(name: string, password: string): Promise<void> {
    this.token = (await this.ok('POST', '/login', { name, password })).accessToken;
  }

  close(): Promise<void> {
    return this.dispatcher.close();
  }
}
