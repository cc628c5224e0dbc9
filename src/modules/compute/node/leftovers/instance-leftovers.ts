import { injectable } from 'inversify';
import { readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileMark } from '../../../../core/host/files/file-mark';
import { instanceCgroups, removeCgroup, type InstanceCgroup } from '../../../../core/host/processes/cgroup';
import { signalProcess, startedAt, waitGone } from '../../../../core/host/processes/process-identity';
import { processesNaming, type NamingProcess } from '../../../../core/host/processes/processes-naming';
import { VerbFailure } from '../../../../core/m2m/verbs/verb-handler';
import { type FoundLeftover, LeftoverSource } from '../../../host/contract/host.ports';
import { memoryOf } from '../drivers/common/suspended-memory';
import { InstanceMachines } from '../instances/instance-machines';
import { InstanceRecords } from '../instances/instance-records';
import { InstanceStore } from '../instances/instance-store';
import { ConfigDrives } from '../seeds/config-drive';
import { contentOf, removeFolder } from './instance-folders';

const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const isId = (name: string): boolean => new RegExp(`^${uuid}$`).test(name);
/** Milliseconds for a process that was killed to be gone. */
const killDeadline = 10_000;

/** What there is, without how it is removed, which `kind` says. */
interface Seen extends Omit<FoundLeftover, 'clear'> {
  instanceId: string;
  /** Called with the instance held, and sure that it is still a leftover. */
  removeIt: () => Promise<void>;
}

/**
 * What is left of instances that are not on record, and of machines that have ended: processes of VMMs by their run
 * folder, control groups, folders with all that they hold, config drives and kept memory. What is looked at twice and
 * is the same both times, with nothing on record that it belongs to in between, is one; what is being made or removed
 * meanwhile is not.
 */
@injectable()
export class InstanceLeftovers extends LeftoverSource {
  readonly name = 'instances';

  constructor(
    private readonly records: InstanceRecords,
    private readonly machines: InstanceMachines,
    private readonly store: InstanceStore,
    private readonly drives: ConfigDrives,
  ) {
    super();
  }

  /** Processes first: nothing else of an instance is cleared while there are any. */
  override async find(signal: AbortSignal): Promise<FoundLeftover[]> {
    const first = (await this.look(signal)).filter((one) => !this.belongs(one));
    if (first.length === 0) return [];
    const again = new Map((await this.look(signal)).map((one) => [key(one), one]));
    return first.flatMap((one) => {
      const now = again.get(key(one));
      return now?.mark === one.mark && !this.belongs(now) ? [this.found(now)] : [];
    });
  }

  private found({ instanceId, removeIt, ...seen }: Seen): FoundLeftover {
    return { ...seen, clear: () => this.clear({ instanceId, removeIt, ...seen }) };
  }

  private clear(seen: Seen): Promise<void> {
    return this.machines.exclusively(seen.instanceId, async () => {
      const now = (await this.look()).find((one) => key(one) === key(seen));
      if (!now) return;
      if (this.belongs(now))
        throw new VerbFailure('leftover_known', `The ${seen.kind} ${seen.name} belongs to an instance by now.`, true);
      if (now.mark !== seen.mark)
        throw new VerbFailure('leftover_changed', `The ${seen.kind} ${seen.name} is another one by now.`, true);
      const inUse = seen.kind !== 'vmm-process' && (await this.processesOf(seen.instanceId)).length > 0;
      if (inUse)
        throw new VerbFailure(
          'leftover_in_use',
          `A process of the same instance still runs: remove that first, then the ${seen.kind} ${seen.name}.`,
          true,
        );
      await now.removeIt();
    });
  }

  /** Whether something on record accounts for it. */
  private belongs({ kind, instanceId }: Seen): boolean {
    if (!this.records.has(instanceId)) return false;
    if (kind === 'instance-folder' || kind === 'run-folder') return true;
    const record = this.records.get(instanceId);
    // One that cannot be read is left alone, with all that it may have.
    if (!record || record.handle || record.starting) return true;
    return kind === 'kept-memory' && (record.suspended !== null || record.suspending);
  }

  private async look(signal?: AbortSignal): Promise<Seen[]> {
    const parts = [];
    for (const part of [
      () => this.processes(),
      () => this.cgroups(),
      () => this.folders('run-folder', this.store.runDirectory('')),
      () => this.folders('instance-folder', this.store.directory('')),
      () => this.ofEnded(),
    ]) {
      signal?.throwIfAborted();
      parts.push(...(await part()));
    }
    return parts;
  }

  private async processes(): Promise<Seen[]> {
    const runs = this.store.runDirectory('');
    const naming = new RegExp(`(?:^|[^/\\w])${escaped(trimmed(runs))}/(${uuid})(?:/|\\0|$)`);
    return (await processesNaming(trimmed(runs))).flatMap((process) => {
      const instanceId = naming.exec(process.commandLine)?.[1];
      return instanceId === undefined ? [] : [this.process(instanceId, process)];
    });
  }

  private process(instanceId: string, { pid, startTime, commandLine }: NamingProcess): Seen {
    return {
      kind: 'vmm-process',
      name: `${instanceId}/${pid}`,
      mark: `${pid}:${startTime}`,
      ...this.owner(instanceId),
      since: startedAt({ pid, startTime }).toISOString(),
      bytes: null,
      holds: [basename(commandLine.split('\0')[0] ?? '').slice(0, 100)],
      instanceId,
      removeIt: async () => {
        signalProcess({ pid, startTime }, 'SIGKILL');
        if (!(await waitGone({ pid, startTime }, killDeadline)))
          throw new VerbFailure('leftover_stays', `The process ${pid} does not end.`, false);
      },
    };
  }

  /**
   * Their names do not say of which agent on the machine they are: ours are those that something else of ours is there
   * for. Those with processes in them are somebody's.
   */
  private async cgroups(): Promise<Seen[]> {
    const ours = await Promise.all(
      (await instanceCgroups()).map(async (group) => !group.populated && (await this.isOurs(group)) && group),
    );
    const groups = ours.filter((group) => group !== false);
    return groups.map(({ instanceId, inode }) => ({
      kind: 'cgroup',
      name: instanceId,
      mark: String(inode),
      ...this.owner(instanceId),
      since: null,
      bytes: null,
      holds: [],
      instanceId,
      removeIt: () => removeCgroup(instanceId),
    }));
  }

  private async isOurs({ instanceId }: InstanceCgroup): Promise<boolean> {
    if (!isId(instanceId)) return false;
    if (this.records.has(instanceId)) return true;
    const folders = [this.store.directory(instanceId), this.store.runDirectory(instanceId)];
    return (await Promise.all(folders.map(fileMark))).some((file) => file !== null);
  }

  private async folders(kind: string, parent: string): Promise<Seen[]> {
    const seen: Seen[] = [];
    for (const instanceId of (await readdir(parent).catch(() => [])).filter(isId)) {
      const path = join(parent, instanceId);
      if (this.records.has(instanceId)) continue;
      const file = await fileMark(path);
      if (!file) continue;
      const { holds, bytes } = await contentOf(path);
      seen.push({
        kind,
        name: instanceId,
        mark: file.mark,
        ...this.owner(instanceId),
        since: file.modifiedAt.toISOString(),
        bytes,
        holds,
        instanceId,
        removeIt: async () => {
          // Nothing would tell of it any more.
          await removeCgroup(instanceId);
          await removeFolder(path);
        },
      });
    }
    return seen;
  }

  /** Of instances on record without a machine: what belongs to a machine. */
  private async ofEnded(): Promise<Seen[]> {
    const seen: Seen[] = [];
    for (const { instanceId, user, handle, starting } of this.records.all()) {
      if (handle || starting) continue;
      const memory = memoryOf({ logDir: this.store.directory(instanceId), user });
      const kept = (await readdir(memory.directory).catch(() => [])).length > 0;
      for (const [kind, path, removeIt] of [
        ['config-drive', this.drives.path(instanceId), () => rm(this.drives.path(instanceId), { force: true })],
        ...(kept ? [['kept-memory', memory.directory, () => memory.empty()] as const] : []),
      ] as const) {
        const file = await fileMark(path);
        if (!file) continue;
        seen.push({
          kind,
          name: instanceId,
          mark: file.mark,
          owner: 'instance',
          ownerId: null,
          since: file.modifiedAt.toISOString(),
          bytes: kind === 'kept-memory' ? (await contentOf(path)).bytes : file.bytes,
          holds: [],
          instanceId,
          removeIt,
        });
      }
    }
    return seen;
  }

  private processesOf(instanceId: string): Promise<NamingProcess[]> {
    return processesNaming(this.store.runDirectory(instanceId));
  }

  /** Of one on record this agent says what is its own; of others management does. */
  private owner(instanceId: string): Pick<Seen, 'owner' | 'ownerId'> {
    return { owner: 'instance', ownerId: this.records.has(instanceId) ? null : instanceId };
  }
}

const key = ({ kind, name }: Pick<Seen, 'kind' | 'name'>): string => `${kind} ${name}`;
const trimmed = (directory: string): string => directory.replace(/\/+$/, '');
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
