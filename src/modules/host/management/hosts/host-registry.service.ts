import { randomUUID } from 'node:crypto';
import { injectable } from 'inversify';
import { Config } from '../../../../core/config/config';
import { Batches } from '../../../../core/db/batches';
import { Database } from '../../../../core/db/database';
import type { Op } from '../../../../core/db/rows/op';
import { conflict, Problem } from '../../../../core/errors/problem';
import { Outbox } from '../../../../core/events/outbox';
import { Breakers } from '../../../../core/m2m/management/breakers';
import { CertificateAuthority } from '../../../../core/m2m/ca/certificate-authority';
import { readSigningRequest, type SigningRequest } from '../../../../core/m2m/ca/certificates';
import {
  type Beat,
  type BeatOutcome,
  type Enrolled,
  type EnrolmentRequest,
  type NodeAbilities,
  type NodeEndpoint,
  NodeRegistry,
} from '../../../../core/m2m/management/node-registry';
import type { HostConfig } from '../../contract/host.config';
import { HostConditions } from '../conditions/host-conditions.service';
import { type ConditionFact, evaluate } from './host-state';
import { HostTokenService } from '../tokens/host-token.service';
import { type BeatRow, HostRepository } from './host.repository';

const enrolledFact: ConditionFact = {
  type: 'Enrolled',
  status: 'true',
  reason: 'CertificateIssued',
  message: 'it has joined',
};
const endpointLifeMs = 2_000;
/** An agent's release changes seldom; one that was stepped back says so when it is called. */
const abilitiesLifeMs = 10_000;
const localTokenMinutes = 15;

interface WaitingBeat {
  hostId: string;
  beat: Beat;
  /** When it came, on the clock of `performance.now()`. */
  since: number;
}

/** Knows the installation's hosts for the transport: enrolment, liveness, addresses. */
/** A heartbeat comes every few seconds: nobody waits for this one. Milliseconds. */
const beatsApartMs = 50;

@injectable()
export class HostRegistry extends NodeRegistry {
  private readonly endpoints = new Map<string, { endpoint: NodeEndpoint; until: number }>();

  private readonly beats = new Batches((waiting: readonly WaitingBeat[]) => this.takeTogether(waiting), beatsApartMs);

  private readonly read = new Map<string, { abilities: NodeAbilities; until: number }>();

  constructor(
    private readonly database: Database,
    private readonly hosts: HostRepository,
    private readonly conditions: HostConditions,
    private readonly tokens: HostTokenService,
    private readonly authority: CertificateAuthority,
    private readonly breakers: Breakers,
    private readonly outbox: Outbox,
    private readonly config: Config,
  ) {
    super();
  }

  async enroll(request: EnrolmentRequest): Promise<Enrolled> {
    const signing = await this.signingRequest(request.csr);
    return this.database.tx(async (op) => {
      const token = await this.tokens.redeem(op, request.ticket);
      if (token.usedAt !== null) return this.answerAgain(op, token.hostId, token.keyHash, signing);
      const hostId = randomUUID();
      const evaluation = evaluate([enrolledFact], []);
      const added = await this.hosts.insert(op, {
        id: hostId,
        name: request.name,
        address: request.address,
        port: request.port,
        evaluation,
      });
      if (!added)
        throw conflict(
          'name_taken',
          `There is a host "${request.name}" already. Remove it first, or give this one another name.`,
        );
      await this.hosts.putCondition(op, hostId, enrolledFact);
      await this.tokens.markUsed(op, token.id, signing.keyHash, hostId);
      await this.outbox.publish(op, {
        type: 'host.created',
        projectId: null,
        subject: { kind: 'host', id: hostId },
        data: { id: hostId, name: request.name, state: evaluation.state, schedulable: false },
      });
      return this.certify(op, hostId, signing);
    });
  }

  async renew(hostId: string, csr: string): Promise<Enrolled> {
    const signing = await this.signingRequest(csr);
    return this.database.tx(async (op) => {
      const host = await this.hosts.find(op, hostId);
      if (!host) throw new Problem({ status: 404, code: 'unknown_host', detail: 'This host was removed.' });
      return this.certify(op, hostId, signing);
    });
  }

  async heartbeat(hostId: string, beat: Beat): Promise<BeatOutcome> {
    const row = await this.take(hostId, beat);
    if (!row) return (await this.hosts.exists(this.database.op, hostId)) ? 'stale' : 'unknown';
    this.remember(hostId, beat.endpoint);
    this.breakers.heard(hostId, beat.boot);
    const clockOk = Math.abs(row.behindMs) <= this.config.section<HostConfig>('host').clockSkewMs;
    if (!row.heartbeatOk || clockOk !== row.clockOk)
      await this.transition(hostId, row.heartbeatOk, clockOk, row.behindMs);
    return 'accepted';
  }

  async endpoint(hostId: string): Promise<NodeEndpoint | null> {
    const known = this.endpoints.get(hostId);
    if (known && known.until > performance.now()) return known.endpoint;
    const endpoint = await this.hosts.endpoint(this.database.op, hostId);
    if (endpoint) this.remember(hostId, endpoint);
    else this.endpoints.delete(hostId);
    return endpoint;
  }

  async abilities(hostId: string, fresh: boolean): Promise<NodeAbilities | null> {
    const known = fresh ? undefined : this.read.get(hostId);
    if (known && known.until > performance.now()) return known.abilities;
    const abilities = await this.hosts.abilities(this.database.op, hostId);
    if (abilities) this.read.set(hostId, { abilities, until: performance.now() + abilitiesLifeMs });
    else this.read.delete(hostId);
    return abilities;
  }

  override known(hostId: string): NodeAbilities | undefined {
    return this.read.get(hostId)?.abilities;
  }

  async localToken(): Promise<string> {
    return (await this.tokens.issue(this.database.op, localTokenMinutes, 'system')).token;
  }

  /** Null when it was overtaken or the host is not there. */
  private async take(hostId: string, beat: Beat): Promise<BeatRow | null> {
    const since = performance.now();
    const row = await this.beats.add({ hostId, beat, since });
    const time = beat.time + performance.now() - since;
    return row ?? this.hosts.beat(this.database.op, hostId, { ...beat, time });
  }

  /** A host's second one of a batch, and what waits for others, is left out: it is taken by itself. */
  private async takeTogether(waiting: readonly WaitingBeat[]): Promise<(BeatRow | null)[]> {
    const now = performance.now();
    const first = new Map(waiting.toReversed().map((one) => [one.hostId, one]));
    // The time that it waited here is not the host's clock being behind.
    const beats = [...first.values()].map(({ hostId: id, beat, since }) => ({
      id,
      beat: { ...beat, time: beat.time + now - since },
    }));
    const rows = await this.hosts.beats(this.database.op, beats);
    return waiting.map((one) => (first.get(one.hostId) === one && rows.get(one.hostId)) || null);
  }

  private remember(hostId: string, endpoint: NodeEndpoint): void {
    this.endpoints.set(hostId, { endpoint, until: performance.now() + endpointLifeMs });
  }

  /** The host is back, or its clock went right or wrong: rare, so here the conditions are written. */
  private async transition(hostId: string, wasHeard: boolean, clockOk: boolean, behindMs: number): Promise<void> {
    await this.database.tx(async (op) => {
      await this.hosts.setClockOk(op, hostId, clockOk);
      if (!wasHeard) await this.hosts.setHeartbeatOk(op, hostId);
      await this.conditions.apply(op, hostId, [
        { type: 'Heartbeat', status: 'true', reason: 'Heard', message: 'it reports itself' },
        clockFact(clockOk, behindMs),
      ]);
    });
    if (!wasHeard) this.breakers.nudge(hostId);
  }

  /** The answer to an enrolment was lost: the same key gets its certificate again, any other key is refused. */
  private async answerAgain(
    op: Op,
    hostId: string | null,
    keyHash: string | null,
    signing: SigningRequest,
  ): Promise<Enrolled> {
    const host = hostId !== null && keyHash === signing.keyHash ? await this.hosts.find(op, hostId) : null;
    if (!host)
      throw new Problem({
        status: 401,
        code: 'token_used',
        detail: 'The enrolment token was used already. Make a new one.',
      });
    return this.certify(op, host.id, signing);
  }

  private async certify(op: Op, hostId: string, signing: SigningRequest): Promise<Enrolled> {
    return {
      hostId,
      certificate: await this.authority.issueNode(op, signing, hostId),
      root: await this.authority.rootPem(),
    };
  }

  private async signingRequest(csr: string): Promise<SigningRequest> {
    const signing = await readSigningRequest(csr);
    if (!signing)
      throw new Problem({
        status: 422,
        code: 'invalid_csr',
        detail: 'The signing request is not a valid one for a P-256 key.',
      });
    return signing;
  }
}

const clockFact = (ok: boolean, behindMs: number): ConditionFact => {
  if (ok) return { type: 'Clock', status: 'true', reason: 'InStep', message: 'its clock agrees with management' };
  const seconds = (Math.abs(behindMs) / 1000).toFixed(0);
  return {
    type: 'Clock',
    status: 'false',
    reason: 'Skewed',
    message: `its clock is ${seconds} s ${behindMs > 0 ? 'behind' : 'ahead'}: check its time synchronisation`,
  };
};
