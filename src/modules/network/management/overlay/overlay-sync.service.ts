import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { Database } from '../../../../core/db/database';
import { Service } from '../../../../core/lifecycle/service';
import { LiveTasks } from '../../../../core/m2m/reports/live-tasks';
import type { PeriodicWork, PeriodicWorks } from '../../../../core/periodic/periodic-work';
import { Logging } from '../../../../core/telemetry/logging';
import { HostConditionNotes, Hosts, type HostConditionFact } from '../../../host/contract/host.ports';
import { HostSync } from '../hosts/host-sync.service';
import { OverlayRepository } from './overlay.repository';
import { UnderlayRepository } from './underlay.repository';
import { judgeUnderlays } from './underlay-verdicts';

/** What triggers of the database send with a change. */
const channel = 'network_change';
/** Milliseconds in which changes gather before they are passed on. */
const gatherMs = 100;
/** Milliseconds until it is looked again after hosts whose last document is still on its way. */
const againMs = 500;

/**
 * Keeps hosts that share networks at one: who changes ports of a network says so in its own transaction, in one row; here
 * every other host of the network is given its newest document, and every host that is behind a change of security
 * groups. One task per host at a time, and however much changes
 * meanwhile, one more after it.
 */
@injectable()
export class OverlaySync extends Service implements PeriodicWorks {
  private readonly log: Logger;
  private readonly noted = new Map<string, string>();
  private timer: NodeJS.Timeout | undefined;
  private working: Promise<void> | undefined;
  private unlisten: (() => Promise<void>) | undefined;
  private stopped = false;

  constructor(
    private readonly database: Database,
    private readonly hosts: Hosts,
    private readonly underlays: UnderlayRepository,
    private readonly overlays: OverlayRepository,
    private readonly sync: HostSync,
    private readonly tasks: LiveTasks,
    private readonly conditions: HostConditionNotes,
    logging: Logging,
  ) {
    super();
    this.log = logging.for('network');
  }

  override async start(): Promise<void> {
    this.unlisten = await this.database.listen(channel, () => this.soon(gatherMs));
  }

  override async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.unlisten?.().catch(() => undefined);
    await this.working;
  }

  periodicWork(): PeriodicWork[] {
    const run = (): Promise<void> => this.round();
    return [{ name: 'network.judge-underlays', everyMs: 2_000, scope: 'cluster', deadlineMs: 60_000, run }];
  }

  /** Judges who takes part, and passes on what changed. */
  async round(): Promise<void> {
    await this.judge();
    await this.passOn();
  }

  private async judge(): Promise<void> {
    const hosts = new Map((await this.hosts.all(this.database.op)).map((host) => [host.id, host]));
    const known = await this.underlays.known(this.database.op);
    const gone = known.filter(({ hostId }) => !hosts.has(hostId)).map(({ hostId }) => hostId);
    const facts = known.flatMap(({ hostId, address, mtu }) => {
      const host = hosts.get(hostId);
      return host ? [{ hostId, address, mtu, name: host.name, heard: host.state !== 'unknown' }] : [];
    });
    const verdicts = judgeUnderlays(facts, hosts.size, await this.underlays.largestMtu(this.database.op));
    const changed = known.flatMap(({ hostId, usable }) => {
      const verdict = verdicts.get(hostId);
      return verdict && verdict.usable !== usable ? [{ hostId, usable: verdict.usable }] : [];
    });
    if (gone.length > 0 || changed.length > 0)
      await this.database.tx(async (op) => {
        if (gone.length > 0) await this.underlays.forget(op, gone);
        if (changed.length > 0) await this.underlays.judge(op, changed);
      });
    for (const [hostId, { fact }] of verdicts) await this.note(hostId, fact);
  }

  private async note(hostId: string, fact: HostConditionFact): Promise<void> {
    const text = JSON.stringify(fact);
    if (this.noted.get(hostId) === text) return;
    await this.database.tx((op) => this.conditions.note(op, hostId, fact));
    this.noted.set(hostId, text);
  }

  private soon(ms: number): void {
    if (this.stopped || this.timer) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      const before = this.working;
      this.working = (async () => {
        await before;
        await this.passOn();
      })().catch((error: unknown) => this.log.warn({ err: error }, 'changes of networks are passed on a moment later'));
    }, ms).unref();
  }

  private async passOn(): Promise<void> {
    const { op } = this.database;
    const more = await this.overlays.fold(op);
    await this.overlays.foldBehind(op);
    const due = await this.overlays.due(op);
    if (more) this.soon(gatherMs);
    if (due.length === 0) return;
    const heard = new Set((await this.hosts.all(op)).filter(({ state }) => state !== 'unknown').map(({ id }) => id));
    // A host that is silent is told when it is heard again.
    const reached = due.filter(({ hostId }) => heard.has(hostId));
    const live = await this.tasks.live(reached.flatMap(({ task }) => task ?? []));
    const free = reached.filter(({ task }) => task === null || live[task] === undefined);
    if (free.length > 0)
      await this.database.tx(async (tx) => {
        for (const { hostId } of free)
          if (await this.overlays.take(tx, hostId))
            await this.overlays.started(tx, hostId, await this.sync.start(tx, hostId, { principal: 'system' }));
      });
    if (free.length < reached.length) this.soon(againMs);
  }
}
