import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { placeInCgroup, removeCgroup } from '../../../../../core/host/cgroup';
import { isRunning, signalProcess, waitGone } from '../../../../../core/host/process-identity';
import { VerbFailure } from '../../../../../core/m2m/verb-handler';
import type { VmmInventory } from '../../../../host/contract/host.api';
import { ExitRecord } from '../common/exit-record';
import { RunFiles, unlinkAll } from '../common/run-files';
import { checkFirmware, checkResources, checkSpec } from '../common/spec-checks';
import { findProgram, readTail, spawnVmm, type SpawnedVmm } from '../common/spawn-vmm';
import { forcedExit, VmmDriver, type VmExit, type VmHandle, type VmSpec, type VmState } from '../vmm-driver';
import { ChClient } from './ch-client';
import { ChError } from './ch-error';
import { chConfig, chFiles, checkForCh, chLogs } from './ch-config';
import { firmwaresOf } from './ch-firmware';
import { readEvents, shutDownInOrder } from './ch-events';
import { awaitApi, probeCh, type ChFacts, type ChProbeOptions } from './ch-probe';
import { asVerbFailure, chSession } from './ch-session';
import { unixTransport } from './ch-transport';

/** Milliseconds. */
const deadlines = { shutdown: 5000, terminate: 3000, kill: 10_000, wait: 60_000 } as const;
/** First releases with Landlock, and with names in the firmware's tables. */
const landlockSince = 41;
const namesSince = 53;

/** Cloud Hypervisor by its API. One process is one VM: whatever goes wrong with it, ending the process cleans up. */
export class CloudHypervisorDriver extends VmmDriver {
  readonly kind = 'cloud-hypervisor' as const;
  private facts: Promise<ChFacts> | null = null;
  /** This VMM cannot use the kernel's Landlock: absent, or older than what it insists on (Linux 6.2 for v53). Only its answer to a vm.create tells. */
  private landlockRefused = false;
  private readonly clients = new Map<string, { client: ChClient; verified: Promise<boolean> }>();

  constructor(
    private readonly options: ChProbeOptions,
    private readonly log: Logger,
  ) {
    super();
  }

  async probe(): Promise<VmmInventory> {
    this.facts = probeCh(this.options);
    const { version, usable, reason } = await this.facts;
    return { kind: this.kind, version, accel: 'kvm', usable, reason, capabilities: usable ? ['serial', 'power-button', 'reset', 'smbios', 'disk-locks', 'counters', ...firmwaresOf(this.options.payload)] : [] };
  }

  validate(spec: VmSpec): void {
    checkSpec(spec, [chFiles.api, chFiles.serial]);
    checkForCh(spec, this.options.payload);
    checkFirmware(spec, firmwaresOf(this.options.payload), 'Cloud Hypervisor');
  }

  async start(spec: VmSpec): Promise<VmHandle> {
    this.validate(spec);
    const facts = await (this.facts ??= probeCh(this.options));
    const binary = await findProgram(this.options.binary);
    if (!facts.usable || binary === null) throw new VerbFailure('vmm_unusable', 'Cloud Hypervisor cannot be used on this host.', true, {}, { detail: facts.reason });
    await checkResources(spec);
    const release = Number.parseInt(facts.version, 10);
    const landlock = !this.landlockRefused && release >= landlockSince;
    const files = await RunFiles.prepare(spec.runDir, spec.logDir);
    let spawned: SpawnedVmm | null = null;
    try {
      await unlinkAll(spec.runDir, Object.values(chFiles));
      await new ExitRecord(spec.runDir).clear();
      const logFile = join(spec.logDir, chLogs.output);
      spawned = await spawnVmm(binary, this.commandLine(spec), { netns: spec.netns, logFile });
      const placement = await placeInCgroup(spec.instanceId, spawned.process.pid, { memoryBytes: spec.memoryBytes, vcpus: spec.vcpus });
      if (!placement.enforced) this.log.debug({ instanceId: spec.instanceId, reason: placement.reason }, 'limits are not enforced');
      const client = new ChClient(unixTransport(join(spec.runDir, chFiles.api)));
      await awaitApi(client, spawned, logFile);
      await chSession.launch(client, chConfig(spec, this.options.payload, { landlock, names: release >= namesSince }));
      return { driver: this.kind, instanceId: spec.instanceId, process: spawned.process, runDir: spec.runDir, logDir: spec.logDir, startedAt: new Date().toISOString() };
    } catch (error) {
      const output = await readTail(join(spec.logDir, chLogs.output));
      if (spawned) {
        signalProcess(spawned.process, 'SIGKILL');
        await waitGone(spawned.process, deadlines.kill);
        await removeCgroup(spec.instanceId);
      }
      await unlinkAll(spec.runDir, Object.values(chFiles));
      await files.rollback();
      if (output.includes('Cannot open network namespace')) throw new VerbFailure('netns_missing', 'The network namespace is not there.', true, {}, { cause: error, detail: output });
      if (landlock && saysLandlock(error)) {
        this.log.warn({ reason: (error as Error).message }, 'VMs run without Landlock: this kernel has none that Cloud Hypervisor can use');
        this.landlockRefused = true;
        return this.start(spec);
      }
      throw asVerbFailure(error);
    }
  }

  async state(handle: VmHandle): Promise<VmState> {
    if (!isRunning(handle.process)) return 'stopped';
    try {
      return await chSession.state(await this.clientOf(handle));
    } catch (error) {
      // A guest's power-off ends the process, maybe in the middle of the question.
      if (!(await waitGone(handle.process, 200))) throw error;
      return 'stopped';
    }
  }

  async powerButton(handle: VmHandle): Promise<void> {
    const client = await this.clientOf(handle);
    await new ExitRecord(handle.runDir).buttonPressed();
    await chSession.powerButton(client);
  }

  async kill(handle: VmHandle): Promise<void> {
    if (isRunning(handle.process)) {
      await new ExitRecord(handle.runDir).settle(forcedExit);
      await this.end(handle);
    } else {
      // The sockets are evidence of how it ended; read before they go.
      await this.settleEnded(handle);
    }
    this.clients.delete(keyOf(handle));
    await unlinkAll(handle.runDir, [chFiles.api, `${chFiles.api}.lock`, chFiles.serial]);
    await removeCgroup(handle.instanceId);
  }

  async reset(handle: VmHandle): Promise<void> {
    await chSession.reset(await this.clientOf(handle));
  }

  async waitExit(handle: VmHandle, signal: AbortSignal): Promise<VmExit> {
    while (!(await waitGone(handle.process, deadlines.wait, signal))) signal.throwIfAborted();
    return this.settleEnded(handle);
  }

  serialSocket(handle: VmHandle): string {
    return join(handle.runDir, chFiles.serial);
  }

  /**
   * Why an ended process ended. In order: the shutdown event, or, should it be lost, the API socket, which only an orderly end removes. A SIGTERM from
   * outside looks the same as the guest's own power-off; nothing tells them apart afterwards.
   */
  private async settleEnded(handle: VmHandle): Promise<VmExit> {
    const record = new ExitRecord(handle.runDir);
    const known = await record.read();
    if (known) return known;
    const events = await readEvents(join(handle.runDir, chFiles.events));
    const socketLeft = await access(join(handle.runDir, chFiles.api)).then(() => true, () => false);
    if (shutDownInOrder(events) || (events.length > 0 && !socketLeft)) return record.settleGuestPowerOff();
    const last = (await readTail(join(handle.logDir, chLogs.output))).split('\n').at(-1) ?? '';
    this.log.error({ instanceId: handle.instanceId, said: last.slice(0, 500) }, 'Cloud Hypervisor ended by itself');
    return record.settle({ cause: 'crashed', detail: 'Cloud Hypervisor ended by itself' });
  }

  private commandLine(spec: VmSpec): string[] {
    return [
      '--api-socket',
      `path=${join(spec.runDir, chFiles.api)}`,
      '--event-monitor',
      `path=${join(spec.runDir, chFiles.events)}`,
      '--log-file',
      join(spec.logDir, chLogs.log),
      '-v',
      '--seccomp',
      'true',
    ];
  }

  /** The API of a running VM. After an agent restart the process behind the socket is checked once. Throws `not_running`, `vmm_mismatch`. */
  private async clientOf(handle: VmHandle): Promise<ChClient> {
    if (!isRunning(handle.process)) throw new VerbFailure('not_running', 'The VM is not running.', true);
    const key = keyOf(handle);
    let entry = this.clients.get(key);
    if (!entry) {
      const client = new ChClient(unixTransport(join(handle.runDir, chFiles.api)));
      entry = { client, verified: client.ping().then(({ pid }) => pid === handle.process.pid) };
      this.clients.set(key, entry);
      entry.verified.catch(() => this.clients.delete(key));
    }
    const verified = await entry.verified.catch((error: unknown) => Promise.reject(asVerbFailure(error)));
    if (!verified) throw new VerbFailure('vmm_mismatch', 'Another process answers in place of the VMM.', true, {}, { detail: `pid ${handle.process.pid}` });
    return entry.client;
  }

  private async end(handle: VmHandle): Promise<void> {
    const asked = await this.clientOf(handle).then((client) => client.shutdownVmm(deadlines.shutdown)).then(
      () => true,
      (error: unknown) => {
        this.log.debug({ instanceId: handle.instanceId, err: error }, 'Cloud Hypervisor did not take vmm.shutdown');
        return false;
      },
    );
    if (await waitGone(handle.process, asked ? deadlines.shutdown : 0)) return;
    signalProcess(handle.process, 'SIGTERM');
    if (await waitGone(handle.process, deadlines.terminate)) return;
    signalProcess(handle.process, 'SIGKILL');
    if (!(await waitGone(handle.process, deadlines.kill))) throw new VerbFailure('vmm_unkillable', 'Cloud Hypervisor does not end.', false, {}, { detail: `pid ${handle.process.pid}` });
  }
}

const keyOf = (handle: VmHandle): string => `${handle.process.pid}/${handle.process.startTime}`;

const saysLandlock = (error: unknown): boolean => error instanceof VerbFailure && error.cause instanceof ChError && error.cause.says('landlock');
