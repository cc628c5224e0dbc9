import { access, stat } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Thread } from '../../../../../core/host/cpus/affinity';
import { findProgram } from '../../../../../core/host/processes/find-program';
import { innerPid, isRunning, signalProcess, waitGone } from '../../../../../core/host/processes/process-identity';
import { together } from '../../../../../core/host/together';
import { VerbFailure } from '../../../../../core/m2m/verbs/verb-handler';
import type { VmmInventory } from '../../../contract/vmm.inventory';
import type { VmmCapability } from '../../../contract/vmm-capabilities';
import { cleanUp } from '../common/clean-up';
import { settleEndedByItself } from '../common/ended-by-itself';
import { ExitRecord } from '../common/exit-record';
import {
  checkBootFile,
  checkDisk,
  checkDiskFile,
  checkFirmware,
  checkKernelFiles,
  checkMachine,
  checkNic,
  checkResources,
  checkSpec,
  checkTap,
  kernelFiles,
} from '../common/spec-checks';
import { startVmm } from '../common/start-vmm';
import { memoryOf } from '../common/suspended-memory';
import { checkHugePages } from '../common/huge-pages';
import { suspendInto } from '../common/suspend-into';
import { forgetTrial } from '../common/trial-cache';
import { handOverDisk, socketFolder } from '../common/vmm-files';
import { vmmSandbox } from '../common/vmm-sandbox';
import type { GuestEvent } from '../guest-event';
import {
  VmmDriver,
  type CoreDumping,
  type VmDisk,
  type VmHandle,
  type VmMemory,
  type VmNic,
  type VmSize,
  type VmSpec,
  type VmState,
} from '../vmm-driver';
import { forcedExit, type VmExit } from '../vmm-exit';
import { ChClient } from './ch-client';
import { chCommandLine, makeLog } from './ch-command-line';
import { chConfig, chEvents, checkForCh, checkNicForCh, chLogs, chSockets, tapFacts } from './ch-config';
import { dumpChMemory, settleChDump } from './ch-core-dump';
import { firmwaresOf } from './ch-firmware';
import { followGuest } from './ch-guest-events';
import { readWatchdog } from './ch-watchdog';
import { readEvents, shutDownInOrder } from './ch-events';
import { awaitApi, chTrialFile, probeCh, type ChFacts, type ChProbeOptions } from './ch-probe';
import { asVerbFailure, chSession } from './ch-session';
import { dialVsock } from './ch-vsock';
import { unixTransport } from './ch-transport';
import { chWarning } from './ch-warning';

/** Milliseconds. */
const deadlines = { shutdown: 5000, terminate: 3000, kill: 10_000, wait: 60_000 } as const;

/** What may be asked of its machines: its watchdog knows one answer, and about a panic the agent does something. */
const machineCapabilities = [
  'watchdog-restart',
  'panic-policy',
  'balloon',
  'vsock',
  'disk-limits',
  'nic-limits',
  'huge-pages',
  'dedicated-cpus',
  'numa-nodes',
  'shared-memory',
] as const satisfies VmmCapability[];

/** Cloud Hypervisor by its API. One process is one VM: whatever goes wrong with it, ending the process cleans up. */
export class CloudHypervisorDriver extends VmmDriver {
  readonly kind = 'cloud-hypervisor' as const;
  private facts: Promise<ChFacts> | null = null;
  /** How long a VM's file of events was, in bytes, when each reset was asked for that is not answered there yet. */
  private readonly resetsAsked = new Map<string, number[]>();
  private readonly clients = new Map<string, { client: ChClient; verified: Promise<boolean> }>();

  constructor(
    private readonly options: ChProbeOptions,
    private readonly log: Logger,
  ) {
    super();
  }

  async probe(): Promise<VmmInventory> {
    const fresh = probeCh(this.options);
    // Starts go by what is known while it is found out anew.
    this.facts ??= fresh;
    const facts = await fresh;
    const { version, usable, reason } = facts;
    this.facts = fresh;
    const warning = chWarning(facts);
    return {
      kind: this.kind,
      version,
      accel: 'kvm',
      usable,
      reason,
      ...(warning !== '' && { warning }),
      capabilities: usable ? this.capabilities(facts) : [],
    };
  }

  private capabilities({ landlock, coreDump }: ChFacts): VmmCapability[] {
    const { payload } = this.options;
    return [
      ...(landlock ? (['landlock'] as const) : []),
      ...(coreDump ? (['core-dump'] as const) : []),
      'serial',
      'power-button',
      'reset',
      'pause',
      'nmi',
      'nic-hotplug',
      'disk-hotplug',
      'cpu-hotplug',
      'memory-hotplug',
      'suspend',
      'smbios',
      'disk-locks',
      'image-kernel',
      ...(payload.firmware === '' && payload.kernel !== '' ? (['direct-kernel'] as const) : []),
      ...firmwaresOf(payload),
      ...machineCapabilities,
    ];
  }

  override retest(): Promise<void> {
    return forgetTrial(chTrialFile(this.options));
  }

  validate(spec: VmSpec): void {
    checkSpec(spec, [chSockets.api, chSockets.serial, chSockets.vsock]);
    checkForCh(spec, this.options.payload);
    checkFirmware(spec, firmwaresOf(this.options.payload), 'Cloud Hypervisor');
    checkMachine(spec, machineCapabilities, 'Cloud Hypervisor');
  }

  async start(spec: VmSpec): Promise<VmHandle> {
    this.validate(spec);
    const facts = await (this.facts ??= probeCh(this.options));
    const binary = findProgram(this.options.binary);
    if (!facts.usable || binary === null)
      throw new VerbFailure(
        'vmm_unusable',
        'Cloud Hypervisor cannot be used on this host.',
        true,
        {},
        { detail: facts.reason },
      );
    const boot = this.bootedBy(spec);
    const logFile = join(spec.logDir, chLogs.output);
    const ownLog = join(spec.logDir, chLogs.log);
    const memory = memoryOf(spec);
    const sandbox = vmmSandbox(spec, this.options.sandbox, this.options.simulated !== true, [
      ...boot.files,
      ...(spec.nics.length > 0 ? tapFacts : []),
    ]);
    return startVmm(
      spec,
      {
        kind: this.kind,
        program: binary,
        args: chCommandLine(spec, ownLog),
        checks: together(
          checkResources(spec),
          boot.check(),
          this.options.simulated === true ? undefined : checkHugePages(spec),
        ),
        prepare: async () => {
          await makeLog(ownLog, spec.user);
          await (spec.suspended === true ? memory.lend() : memory.make());
        },
        process: {
          logFile,
          eventFile: join(spec.runDir, chEvents),
          sandbox: { ...sandbox, writable: [...(sandbox.writable ?? []), ownLog, memory.directory] },
        },
        sockets: Object.values(chSockets),
        observe: async (spawned) => {
          const socket = join(socketFolder(spec), chSockets.api);
          const client = new ChClient(unixTransport(socket, spec.user));
          await awaitApi(socket, client, spawned, logFile);
          if (spec.suspended === true) await chSession.restore(client, memory);
          else await chSession.launch(client, chConfig(spec, this.options.payload, facts));
        },
        confine: (handle, cpus) => this.confine(handle, cpus),
      },
      this.log,
    ).catch((error: unknown) => Promise.reject(asVerbFailure(error)));
  }

  /** Its own kernel, or what the host boots disks by. */
  private bootedBy(spec: VmSpec): { files: string[]; check: () => Promise<void> } {
    if (spec.kernel) return { files: kernelFiles(spec), check: () => checkKernelFiles(spec) };
    const { firmware, kernel } = this.options.payload;
    if (firmware !== '') return { files: [firmware], check: () => checkBootFile('firmware', firmware) };
    return { files: [kernel], check: () => checkBootFile('kernel', kernel) };
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
    this.resetsAsked.delete(keyOf(handle));
    await cleanUp(handle, Object.values(chSockets));
  }

  async reset(handle: VmHandle): Promise<void> {
    const client = await this.clientOf(handle);
    const key = keyOf(handle);
    const told = await stat(join(handle.runDir, chEvents)).then(
      ({ size }) => size,
      () => 0,
    );
    const asked = this.resetsAsked.get(key) ?? [];
    this.resetsAsked.set(key, asked);
    asked.push(told);
    await chSession.reset(client);
  }

  async pause(handle: VmHandle): Promise<void> {
    await chSession.pause(await this.clientOf(handle));
  }

  async resume(handle: VmHandle): Promise<void> {
    await chSession.resume(await this.clientOf(handle));
  }

  async suspend(handle: VmHandle, memoryBytes: number): Promise<void> {
    const client = await this.clientOf(handle);
    await suspendInto(memoryOf(handle), memoryBytes, {
      pause: () => chSession.pause(client),
      keep: ({ directory }) => chSession.snapshot(client, directory),
      goOn: () => chSession.resume(client),
      end: () => this.kill(handle),
    });
  }

  override async coreDump(handle: VmHandle, dumping: CoreDumping): Promise<void> {
    await dumpChMemory(await this.clientOf(handle), memoryOf(handle), dumping);
  }

  override async settleCoreDump(handle: VmHandle, signal: AbortSignal): Promise<VmState> {
    return settleChDump(() => this.state(handle), memoryOf(handle), signal);
  }

  async nmi(handle: VmHandle): Promise<void> {
    await chSession.nmi(await this.clientOf(handle));
  }

  async nics(handle: VmHandle): Promise<string[]> {
    return chSession.nics(await this.clientOf(handle));
  }

  async attachNic(handle: VmHandle, nic: VmNic, netns: string | null): Promise<void> {
    checkNic(nic);
    checkNicForCh(nic);
    const [client] = await together(this.clientOf(handle), checkTap(nic, netns));
    await chSession.addNic(client, nic);
  }

  async detachNic(handle: VmHandle, nicId: string, deadlineMs: number, signal: AbortSignal): Promise<void> {
    await chSession.removeNic(await this.clientOf(handle), nicId, deadlineMs, signal);
  }

  async disks(handle: VmHandle): Promise<string[]> {
    return chSession.disks(await this.clientOf(handle));
  }

  async attachDisk(handle: VmHandle, disk: VmDisk): Promise<void> {
    checkDisk(disk);
    const [client] = await together(this.clientOf(handle), checkDiskFile(disk));
    await handOverDisk(disk, handle.user);
    await chSession.addDisk(client, { ...disk, detachable: true });
  }

  async detachDisk(handle: VmHandle, diskId: string, deadlineMs: number, signal: AbortSignal): Promise<void> {
    await chSession.removeDisk(await this.clientOf(handle), diskId, deadlineMs, signal);
  }

  async size(handle: VmHandle): Promise<VmSize> {
    return chSession.size(await this.clientOf(handle));
  }

  async checkResize(handle: VmHandle, size: VmSize): Promise<void> {
    await chSession.checkResize(await this.clientOf(handle), size);
  }

  async setVcpus(handle: VmHandle, vcpus: number, deadlineMs: number, signal: AbortSignal): Promise<void> {
    await chSession.setVcpus(await this.clientOf(handle), vcpus, deadlineMs, signal);
  }

  async setMemory(handle: VmHandle, bytes: number): Promise<void> {
    await chSession.setMemory(await this.clientOf(handle), bytes);
  }

  async memory(handle: VmHandle): Promise<VmMemory> {
    return chSession.memory(await this.clientOf(handle));
  }

  async setBalloon(handle: VmHandle, bytes: number): Promise<void> {
    await chSession.setBalloon(await this.clientOf(handle), bytes);
  }

  /** It names the threads of its vCPUs by their number. */
  protected override vcpuThreads(): Promise<(thread: Thread) => number | undefined> {
    return Promise.resolve(({ name }) => {
      const vcpu = /^vcpu(\d+)$/.exec(name)?.[1];
      return vcpu === undefined ? undefined : Number(vcpu);
    });
  }

  async waitExit(handle: VmHandle, signal: AbortSignal, tell?: (event: GuestEvent) => void): Promise<VmExit> {
    const events = join(handle.runDir, chEvents);
    const ended = new AbortController();
    const following = AbortSignal.any([signal, ended.signal]);
    if (tell)
      followGuest(
        events,
        { asked: (at) => this.resetWasAsked(handle, at), fired: () => readWatchdog(handle) },
        tell,
        following,
      );
    try {
      return await this.exitOf(handle, signal);
    } finally {
      ended.abort();
    }
  }

  private async exitOf(handle: VmHandle, signal: AbortSignal): Promise<VmExit> {
    while (!(await waitGone(handle.process, deadlines.wait, signal))) signal.throwIfAborted();
    return this.settleEnded(handle);
  }

  /** Each answers for one that the VMM tells of, at that byte of its file of events. */
  private resetWasAsked(handle: VmHandle, at: number): boolean {
    const asked = this.resetsAsked.get(keyOf(handle)) ?? [];
    const answered = asked.findIndex((told) => told <= at);
    if (answered < 0) return false;
    asked.splice(answered, 1);
    return true;
  }

  override async vsock(handle: VmHandle, port: number): Promise<Socket> {
    await this.clientOf(handle);
    return dialVsock(join(socketFolder(handle), chSockets.vsock), handle.user, port);
  }

  serialSocket(handle: VmHandle): string {
    return join(socketFolder(handle), chSockets.serial);
  }

  /**
   * Why an ended process ended. In order: the shutdown event, or, should it be lost, the API socket, which only an
   * orderly end removes. A SIGTERM from outside looks the same as the guest's own power-off; nothing tells them apart
   * afterwards.
   */
  private async settleEnded(handle: VmHandle): Promise<VmExit> {
    const record = new ExitRecord(handle.runDir);
    const known = await record.read();
    if (known) return known;
    const events = await readEvents(join(handle.runDir, chEvents));
    const socketLeft = await access(join(socketFolder(handle), chSockets.api)).then(
      () => true,
      () => false,
    );
    if (shutDownInOrder(events) || (events.length > 0 && !socketLeft)) return record.settleGuestPowerOff();
    return settleEndedByItself(handle, 'Cloud Hypervisor', chLogs.output, this.log);
  }

  /**
   * The API of a running VM. After an agent restart the process behind the socket is checked once. Throws
   * `not_running`, `vmm_mismatch`.
   */
  private async clientOf(handle: VmHandle): Promise<ChClient> {
    if (!isRunning(handle.process)) throw new VerbFailure('not_running', 'The VM is not running.', true);
    const key = keyOf(handle);
    let entry = this.clients.get(key);
    if (!entry) {
      const client = new ChClient(unixTransport(join(socketFolder(handle), chSockets.api), handle.user));
      entry = { client, verified: client.ping().then(({ pid }) => pid === innerPid(handle.process.pid)) };
      this.clients.set(key, entry);
      entry.verified.catch(() => this.clients.delete(key));
    }
    const verified = await entry.verified.catch((error: unknown) => Promise.reject(asVerbFailure(error)));
    if (!verified)
      throw new VerbFailure(
        'vmm_mismatch',
        'Another process answers in place of the VMM.',
        true,
        {},
        { detail: `pid ${handle.process.pid}` },
      );
    return entry.client;
  }

  private async end(handle: VmHandle): Promise<void> {
    const asked = await this.clientOf(handle)
      .then((client) => client.shutdownVmm(deadlines.shutdown))
      .then(
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
    if (!(await waitGone(handle.process, deadlines.kill)))
      throw new VerbFailure(
        'vmm_unkillable',
        'Cloud Hypervisor does not end.',
        false,
        {},
        { detail: `pid ${handle.process.pid}` },
      );
  }
}

const keyOf = (handle: VmHandle): string => `${handle.process.pid}/${handle.process.startTime}`;
