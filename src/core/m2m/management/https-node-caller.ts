import { request as httpsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import { injectable } from 'inversify';
import { Agent, type Dispatcher, request } from 'undici';
import { z } from 'zod';
import { Config } from '../../config/config';
import { Breakers } from './breakers';
import { ServerIdentity } from '../ca/server-identity';
import {
  type CallInTurn,
  type CallOptions,
  type CallOutcome,
  type CallsInTurn,
  NodeCaller,
  NodeUnreachableError,
  NodeVerbError,
} from './node-caller';
import { type NodeAbilities, type NodeEndpoint, NodeRegistry } from './node-registry';
import { minVersion, mustBeHost } from '../node/secure-context';
import { NotUnderstood } from '../verbs/not-understood';
import { argsFor, knownRevision } from '../verbs/revisions';
import type { Verb, WireArgs } from '../verbs/verb';
import { streamRefused } from './stream-refused';
import { verbError } from './verb-error';
import { streamOpenMs } from './node-route';

const verbResult = z.object({ result: z.unknown() });
const inTurn = z.object({
  answers: z.array(
    z.object({
      ms: z.number().nonnegative(),
      accepted: z.boolean().optional(),
      result: z.unknown().optional(),
      error: z.unknown().optional(),
    }),
  ),
});
const connectTimeoutMs = 5_000;
const outcomeTimeoutMs = 10_000;

interface Exchange {
  method: 'GET' | 'POST';
  path: string;
  body?: string;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

const parsed = (hostId: string, verb: string, status: number, text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    const message = `The host answered ${status} with something that is not JSON.`;
    throw new NodeVerbError(hostId, verb, 'invalid_answer', message, false);
  }
};

const textOf = (error: unknown): string => (error instanceof Error ? error.message || error.name : String(error));

const unknownHost = (hostId: string): NodeVerbError =>
  new NodeVerbError(hostId, 'call', 'unknown_host', `There is no host ${hostId}.`, true);

/** Its message may be read by tenants, who see no hosts; operators read which host it is in the detail. */
const hostOutdated = (
  hostId: string,
  node: NodeAbilities,
  verb: Pick<Verb, 'name' | 'revision'>,
  known: number,
  lacks: string,
): NodeVerbError =>
  new NodeVerbError(
    hostId,
    verb.name,
    'host_outdated',
    `The host runs an older release and does not understand ${lacks}. An administrator has to upgrade the host.`,
    true,
    { verb: verb.name, known, needed: verb.revision },
    `${node.name} (agent ${node.release || 'of an unknown release'}) does not understand ${lacks}, which "${verb.name}" needs: upgrade the host.`,
  );

/**
 * Calls nodes over HTTPS with mutual TLS: connections kept alive, one breaker per node, the peer's identity checked on
 * every connection.
 */
@injectable()
export class HttpsNodeCaller extends NodeCaller {
  private readonly agents = new Map<string, Agent>();

  constructor(
    private readonly registry: NodeRegistry,
    private readonly identity: ServerIdentity,
    private readonly breakers: Breakers,
    private readonly config: Config,
  ) {
    super();
    identity.onChange(() => this.closeAgents());
  }

  async call<A, R>(hostId: string, verb: Verb<A, R>, args: A, options: CallOptions): Promise<CallOutcome<R>> {
    const { key, fence, requestId } = options;
    const body = JSON.stringify({ key, fence, requestId, ...(await this.write(hostId, verb, args)) });
    const { status, text } = await this.ask(hostId, {
      method: 'POST',
      path: `/verbs/${verb.name}`,
      body,
      timeoutMs: verb.timeoutMs,
      signal: options.signal,
    });
    try {
      return this.read(hostId, verb, status, parsed(hostId, verb.name, status, text));
    } catch (error) {
      await this.seen(hostId, error);
      throw error;
    }
  }

  override takesCallsInTurn(hostId: string): boolean {
    return this.registry.known(hostId)?.revisions?.callsInTurn === true;
  }

  async callInTurn(
    hostId: string,
    calls: readonly CallInTurn[],
    { fence, requestId, signal }: Omit<CallOptions, 'key'>,
  ): Promise<CallsInTurn> {
    const written: { verb: string; key: string; fence: number | undefined; requestId: string | undefined }[] = [];
    let unsaid: { error: unknown } | undefined;
    for (const { verb, args, key } of calls) {
      try {
        written.push({ verb: verb.name, key, fence, requestId, ...(await this.write(hostId, verb, args)) });
      } catch (error) {
        // What the node cannot be told ends the list: those before it are told.
        if (written.length === 0) throw error;
        unsaid = { error };
        break;
      }
    }
    const { status, text } = await this.ask(hostId, {
      method: 'POST',
      path: '/calls',
      body: JSON.stringify({ calls: written }),
      timeoutMs: calls.reduce((sum, { verb }) => sum + verb.timeoutMs, 0),
      signal,
    });
    const { answers } = this.readInTurn(hostId, status, text);
    const outcomes: CallsInTurn['outcomes'] = [];
    for (const [index, answer] of answers.slice(0, written.length).entries()) {
      const verb = calls[index]?.verb;
      if (!verb) break;
      try {
        const code = answer.error !== undefined ? 422 : answer.accepted ? 202 : 200;
        const outcome = this.read(hostId, verb, code, answer);
        outcomes.push({ ...outcome, ms: answer.ms });
        // Whatever it says of those after it: none of them may have begun.
        if (!outcome.done) break;
      } catch (error) {
        await this.seen(hostId, error);
        return { outcomes, error };
      }
    }
    const all = outcomes.length === written.length && outcomes.every(({ done }) => done);
    return { outcomes, ...(all && unsaid) };
  }

  async outcome<A, R>(hostId: string, verb: Verb<A, R>, key: string): Promise<CallOutcome<R>> {
    const { status, text } = await this.ask(hostId, {
      method: 'GET',
      path: `/verbs/outcome?key=${encodeURIComponent(key)}`,
      timeoutMs: outcomeTimeoutMs,
    });
    return this.read(hostId, verb, status, parsed(hostId, verb.name, status, text));
  }

  async stream(hostId: string, path: string): Promise<Duplex> {
    const endpoint = await this.endpoint(hostId);
    const { client, root } = this.identity.current();
    return new Promise((resolve, reject) => {
      const req = httpsRequest({
        host: endpoint.address,
        port: endpoint.port,
        path,
        agent: false,
        cert: client.certificate,
        key: client.key,
        ca: root,
        minVersion,
        checkServerIdentity: mustBeHost(hostId),
        headers: { connection: 'Upgrade', upgrade: 'vc-stream' },
        timeout: streamOpenMs,
      });
      req.once('upgrade', (_res, socket, head) => {
        socket.setTimeout(0);
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
      });
      req.once('response', (res) => {
        void streamRefused(hostId, res).then((refused) => {
          req.destroy();
          reject(refused);
        });
      });
      req.once('timeout', () => req.destroy(new Error('no answer in time')));
      req.once('error', (error) =>
        reject(new NodeUnreachableError(hostId, `The host does not answer: ${textOf(error)}`, { cause: error })),
      );
      req.end();
    });
  }

  /** Closes all connections. */
  async close(): Promise<void> {
    const agents = [...this.agents.values()];
    this.agents.clear();
    await Promise.all(agents.map((agent) => agent.destroy()));
  }

  /**
   * The arguments as the node's agent understands them. Throws a permanent `NodeVerbError` `host_outdated` when it
   * cannot: nothing was asked of it then. What it understands is read anew before it is refused.
   */
  private async write<A, R>(hostId: string, verb: Verb<A, R>, args: A): Promise<{ revision?: number; args: WireArgs }> {
    for (let fresh = false; ; fresh = true) {
      const node = await this.registry.abilities(hostId, fresh);
      if (!node) throw unknownHost(hostId);
      const known = knownRevision(node.revisions?.verbs ?? null, verb.name);
      try {
        const written = argsFor(verb, args as WireArgs, known);
        // Agents from before revisions refuse a call that names one.
        return { ...(node.revisions && { revision: Math.min(known, verb.revision) }), args: written };
      } catch (error) {
        if (!(error instanceof NotUnderstood)) throw error;
        if (fresh) throw hostOutdated(hostId, node, verb, known, error.what);
      }
    }
  }

  /** The agent is an older one than it was: the next attempt writes for that. */
  private async seen(hostId: string, error: unknown): Promise<void> {
    if (error instanceof NodeVerbError && error.code === 'newer_revision') await this.registry.abilities(hostId, true);
  }

  private async ask(hostId: string, call: Exchange): Promise<{ status: number; text: string }> {
    const endpoint = await this.endpoint(hostId);
    const breaker = this.breakers.of(hostId);
    if (!breaker.admit())
      throw new NodeUnreachableError(hostId, 'The host did not answer the last calls and is not called for a while.');
    try {
      const answer = await this.exchange(hostId, endpoint, call);
      breaker.success();
      return answer;
    } catch (error) {
      if (call.signal?.aborted) breaker.release();
      else breaker.failure();
      throw new NodeUnreachableError(hostId, `The host does not answer: ${textOf(error)}`, { cause: error });
    }
  }

  private async exchange(
    hostId: string,
    endpoint: NodeEndpoint,
    call: Exchange,
  ): Promise<{ status: number; text: string }> {
    const deadline = AbortSignal.timeout(call.timeoutMs);
    const host = endpoint.address.includes(':') ? `[${endpoint.address}]` : endpoint.address;
    const init: Omit<Dispatcher.RequestOptions, 'origin' | 'path' | 'method'> & {
      method: Dispatcher.HttpMethod;
      dispatcher: Dispatcher;
    } = {
      method: call.method,
      dispatcher: this.agent(hostId),
      signal: call.signal ? AbortSignal.any([deadline, call.signal]) : deadline,
      ...(call.body === undefined ? {} : { body: call.body, headers: { 'content-type': 'application/json' } }),
    };
    const response = await request(`https://${host}:${endpoint.port}${call.path}`, init);
    const text = await response.body.text();
    return { status: response.statusCode, text };
  }

  private readInTurn(hostId: string, status: number, text: string): z.output<typeof inTurn> {
    const json = parsed(hostId, 'calls', status, text);
    const answers = status === 200 ? inTurn.safeParse(json) : undefined;
    if (answers?.success) return answers.data;
    // Refused as a whole, e.g. by an agent that was replaced by an older one.
    throw new NodeVerbError(hostId, 'calls', 'invalid_answer', `The host answered ${status}.`, false);
  }

  private read<A, R>(
    hostId: string,
    verb: Pick<Verb<A, R>, 'name' | 'result'>,
    status: number,
    json: unknown,
  ): CallOutcome<R> {
    if (status === 202) return { done: false };
    if (status === 200) {
      const parsed = verb.result.safeParse(verbResult.safeParse(json).data?.result);
      if (parsed.success) return { done: true, result: parsed.data };
      const issues = parsed.error.issues.map((i) => `${i.path.join('.')}: ${i.message}`).join('; ');
      throw new NodeVerbError(
        hostId,
        verb.name,
        'invalid_result',
        `The host's result of ${verb.name} is not valid.`,
        true,
        {},
        issues,
      );
    }
    const failure = verbError.safeParse(json);
    if (!failure.success)
      throw new NodeVerbError(hostId, verb.name, 'invalid_answer', `The host answered ${status}.`, false);
    const { code, message, permanent, extra, detail } = failure.data.error;
    throw new NodeVerbError(hostId, verb.name, code, message, permanent, extra, detail);
  }

  private async endpoint(hostId: string): Promise<NodeEndpoint> {
    const endpoint = await this.registry.endpoint(hostId);
    if (endpoint) return endpoint;
    this.breakers.forget(hostId);
    void this.agents.get(hostId)?.destroy();
    this.agents.delete(hostId);
    throw unknownHost(hostId);
  }

  private agent(hostId: string): Agent {
    let agent = this.agents.get(hostId);
    if (!agent) {
      const { client, root } = this.identity.current();
      agent = new Agent({
        connections: this.config.core.m2m.connectionsPerNode,
        keepAliveTimeout: 60_000,
        headersTimeout: 0,
        bodyTimeout: 0,
        connect: {
          cert: client.certificate,
          key: client.key,
          ca: root,
          minVersion,
          checkServerIdentity: mustBeHost(hostId),
          timeout: connectTimeoutMs,
        },
        // A resumed session would skip the check of the peer's identity.
        maxCachedSessions: 0,
      });
      this.agents.set(hostId, agent);
    }
    return agent;
  }

  private closeAgents(): void {
    const agents = [...this.agents.values()];
    this.agents.clear();
    for (const agent of agents) void agent.close().catch(() => undefined);
  }
}
