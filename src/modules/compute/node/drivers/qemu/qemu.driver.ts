import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Thread } from '../../../../../core/host/cpus/affinity';
import { findProgram } from '../../../../../core/host/processes/find-program';
import { isRunning, signalProcess, waitGone } from '../../../../../core/host/processes/process-identity';
import { readTail } from '../../../../../core/host/sandbox/spawn-sandboxed';
import { together } from '../../../../../core/host/together';
import { VerbFailure } from '../../../../../core/m2m/verbs/verb-handler';
import type { VmmInventory } from '../../../contract/vmm.inventory';
import { cleanUp } from '../common/clean-up';
import { settleEndedByItself } from '../common/ended-by-itself';
import { ExitRecord } from '../common/exit-record';
import {
  checkCpuModel,
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
import { FolderChanges } from '../common/folder-changes';
import { startPause, type SpawnedVmm } from '../common/spawn-vmm';
import { limitNic, limitNics } from '../common/nic-limits';
import { checkHugePages } from '../common/huge-pages';
import { startVmm } from '../common/start-vmm';
import { suspendInto } from '../common/suspend-into';
import { memoryOf } from '../common/suspended-memory';
import { endShares, refuseWithShares, sharesBeside, shareSockets } from '../common/virtiofsd';
import { handOverDisk, socketFolder } from '../common/vmm-files';
import { vmmSandbox } from '../common/vmm-sandbox';
import type { GuestEvent } from '../guest-event';
import {
  notInState,
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
import { qemuArguments, qemuLogs, qemuSockets, tpmSocket, uefiVariables } from './qemu-arguments';
import { qemuMemory, setQemuBalloon } from './qemu-balloon';
import { firmwares, machineCapabilities, qemuCapabilities } from './qemu-capabilities';
import { coreDumpPipe, dumpQemuMemory, settleQemuDump } from './qemu-core-dump';
import { attachQemuDisk, detachQemuDisk, qemuDisks } from './qemu-disks';
import { attachQemuNic, detachQemuNic, qemuNics } from './qemu-nics';
import { agentListens, setGuestClock } from './qemu-guest-clock';
import { exitOf, QemuMonitor, stateOf } from './qemu-monitor';
import { qemuStartFailure } from './qemu-failure';
import { qemuVcpuThreads } from './qemu-numa';
import { addQemuVcpus, checkQemuResize, qemuSize, setQemuMemory } from './qemu-resize';
import { forgetQemuTrials, probeQemu, type QemuFacts, type QemuProbeOptions } from './qemu-probe';
import { beginRecord, QemuRecord, recordArguments, recordFile, recordSocket } from './qemu-record';
import { QemuScreens, screenshotFile } from './qemu-screens';
import {
  forgetCommandLine,
  keepMachine,
  lengthenCommandLine,
  noteCommandLine,
  resumingArguments,
  suspensionSockets,
  tellMachine,
} from './qemu-suspension';
import { endTpm, tpmBeside } from './qemu-tpm';
import { QemuGuestEvents } from './qemu-guest-events';
import { checkVsock, forgetCid, noteCid, vsockDevice, withCid, withOwnCid } from './qemu-vsock';
import { QemuVsocks } from './qemu-vsocks';
import { QmpError } from './qmp-error';
import { ensureVariables } from './uefi-firmware';

/** Milliseconds. Software emulation on a busy host is slow, but a monitor that says nothing for so long is gone. */
const deadlines = { start: 30_000, quit: 3000, terminate: 3000, kill: 10_000 } as const;

/** Milliseconds that huge pages take at most until they are all empty and there. */
const pagesDeadline = ({ memoryBytes, hardware }: VmSpec): number =>
  hardware?.pageSize === undefined ? 0 : 1000 * Math.ceil(memoryBytes / 2 ** 30);

/** QEMU by its monitor protocol. Everything it needs after an agent restart is in the handle and beside the sockets. */
export class QemuDriver extends VmmDriver {
  readonly kind = 'qemu' as const;
  private facts: Promise<QemuFacts> | null = null;
  private readonly screens = new QemuScreens();
  private readonly vsocks = new QemuVsocks();
  private readonly monitor = new QemuMonitor();

  constructor(
    private readonly options: QemuProbeOptions,
    private readonly log: Logger,
  ) {
    super();
  }

  async probe(): Promise<VmmInventory> {
    const fresh = probeQemu(this.options);
    // Starts go by what is known while it is found out anew.
    this.facts ??= fresh;
    const { version, accel, usable, reason, warning, cpuModels } = await fresh;
    this.facts = fresh;
    return {
      kind: this.kind,
      version,
      accel,
      usable,
      reason,
      ...(warning !== '' && { warning }),
      capabilities: usable ? qemuCapabilities(await fresh) : [],
      ...(usable && { cpuModels: [...cpuModels] }),
    };
  }

  override retest(): Promise<void> {
    return forgetQemuTrials(this.options);
  }

  validate(spec: VmSpec): void {
    checkSpec(spec, Object.values(qemuSockets));
  }

  async start(spec: VmSpec): Promise<VmHandle> {
    this.validate(spec);
    const facts = await (this.facts ??= probeQemu(this.options));
    const binary = findProgram(this.options.binary);
    if (!facts.usable || binary === null)
      throw new VerbFailure('vmm_unusable', 'QEMU cannot be used on this host.', true, {}, { detail: facts.reason });
    checkFirmware(spec, firmwares(facts.uefi), 'QEMU');
    checkMachine(spec, machineCapabilities(facts), 'QEMU');
    checkCpuModel(spec, facts, 'QEMU');
    return withOwnCid(spec, (cid) => this.startWith(spec, facts, binary, cid));
  }

  /** @param cid of its vsock; null: it has none */
  private async startWith(spec: VmSpec, facts: QemuFacts, binary: string, cid: number | null): Promise<VmHandle> {
    const uefi = spec.firmware === 'uefi' ? (spec.machine?.secureBoot ? facts.secureUefi : facts.uefi) : null;
    const variables = join(spec.logDir, uefiVariables);
    const memory = memoryOf(spec);
    const args =
      spec.suspended === true
        ? withCid(await resumingArguments(spec), cid)
        : [...qemuArguments(spec, facts.accel, uefi, facts.screen, cid), ...recordArguments(spec)];
    const sandbox = vmmSandbox(spec, this.options.sandbox, facts.accel === 'kvm', [
      ...(uefi ? [uefi.code] : []),
      ...kernelFiles(spec),
      ...shareSockets(spec),
    ]);
    return startVmm(
      spec,
      {
        kind: this.kind,
        program: binary,
        args,
        checks: together(checkResources(spec), checkKernelFiles(spec), checkHugePages(spec), checkVsock(spec)),
        prepare: async () => {
          await together(memory.make(), ...(spec.suspended === true ? [] : [noteCommandLine(spec, args)]));
          await limitNics(spec);
          if (cid !== null) await noteCid(spec, cid);
          if (uefi) await ensureVariables(uefi, variables, spec.user);
        },
        process: {
          logFile: join(spec.logDir, qemuLogs.vmm),
          ...recordFile(spec),
          ...vsockDevice(spec),
          sandbox: { ...sandbox, writable: [...(sandbox.writable ?? []), ...(uefi ? [variables] : [])] },
        },
        companions: [
          ...(spec.machine?.tpm ? [tpmBeside(spec)] : []),
          ...(facts.virtiofsd === null ? [] : sharesBeside(spec, facts.virtiofsd)),
        ],
        sockets: [...Object.values(qemuSockets), recordSocket, suspensionSockets.into],
        observe: (spawned) => this.awaitRunning(spec, spawned),
        confine: (handle, cpus) => this.confine(handle, cpus),
      },
      this.log,
    );
  }

  async state(handle: VmHandle): Promise<VmState> {
    if (!isRunning(handle.process)) return 'stopped';
    try {
      return stateOf(await this.monitor.status(handle));
    } catch (error) {
      // It may end in the middle of the question.
      if (!(await waitGone(handle.process, 200))) throw error;
      return 'stopped';
    }
  }

  async powerButton(handle: VmHandle): Promise<void> {
    this.monitor.assertRunning(handle);
    await new ExitRecord(handle.runDir).buttonPressed();
    await this.monitor.command(handle, 'system_powerdown');
  }

  async kill(handle: VmHandle): Promise<void> {
    if (isRunning(handle.process)) {
      const record = new ExitRecord(handle.runDir);
      const status = await this.monitor.status(handle).catch(() => 'unknown');
      // A guest that had powered off before is only collected here.
      if (status === 'shutdown') await record.settleGuestPowerOff();
      else await record.settle(exitOf(status) ?? forcedExit);
      await this.end(handle);
    }
    await endTpm(handle);
    await endShares(handle);
    await forgetCid(handle);
    await cleanUp(handle, [...Object.values(qemuSockets), recordSocket, tpmSocket, screenshotFile, coreDumpPipe]);
  }

  async reset(handle: VmHandle): Promise<void> {
    await this.monitor.command(handle, 'system_reset');
    this.vsocks.end(handle);
  }

  async pause(handle: VmHandle): Promise<void> {
    await this.bring(handle, 'stop', 'paused');
  }

  async resume(handle: VmHandle): Promise<void> {
    await this.bring(handle, 'cont', 'running');
  }

  async suspend(handle: VmHandle, memoryBytes: number): Promise<void> {
    this.monitor.assertRunning(handle);
    await refuseWithShares(handle);
    await suspendInto(memoryOf(handle), memoryBytes, {
      pause: () => this.pause(handle),
      keep: (memory, limit) => this.monitor.converse(handle, (qmp) => keepMachine(qmp, handle, memory, limit)),
      goOn: () => this.resume(handle),
      end: () => this.kill(handle),
    });
  }

  override async coreDump(handle: VmHandle, dumping: CoreDumping): Promise<void> {
    this.monitor.assertRunning(handle);
    await dumpQemuMemory(this.monitor, handle, dumping);
  }

  override async settleCoreDump(handle: VmHandle, signal: AbortSignal): Promise<VmState> {
    return settleQemuDump(this.monitor, handle, signal);
  }

  override async setClock(handle: VmHandle): Promise<boolean> {
    if (!(await this.monitor.converse(handle, agentListens))) return false;
    await setGuestClock(handle);
    return true;
  }

  async nmi(handle: VmHandle): Promise<void> {
    await this.monitor.command(handle, 'inject-nmi');
  }

  async nics(handle: VmHandle): Promise<string[]> {
    return this.monitor.converse(handle, qemuNics);
  }

  async attachNic(handle: VmHandle, nic: VmNic, netns: string | null): Promise<void> {
    checkNic(nic);
    await checkTap(nic, netns);
    await limitNic(nic, netns, handle.logDir);
    await forgetCommandLine(handle);
    await this.monitor.converse(handle, (qmp) => attachQemuNic(qmp, nic));
  }

  async detachNic(handle: VmHandle, nicId: string, deadlineMs: number, signal: AbortSignal): Promise<void> {
    await forgetCommandLine(handle);
    await this.monitor.converse(handle, (qmp) => detachQemuNic(qmp, nicId, deadlineMs, signal));
  }

  async disks(handle: VmHandle): Promise<string[]> {
    return this.monitor.converse(handle, qemuDisks);
  }

  async attachDisk(handle: VmHandle, disk: VmDisk): Promise<void> {
    checkDisk(disk);
    this.monitor.assertRunning(handle);
    await checkDiskFile(disk);
    await handOverDisk(disk, handle.user);
    await forgetCommandLine(handle);
    await this.monitor.converse(handle, (qmp) => attachQemuDisk(qmp, disk));
  }

  async detachDisk(handle: VmHandle, diskId: string, deadlineMs: number, signal: AbortSignal): Promise<void> {
    await forgetCommandLine(handle);
    await this.monitor.converse(handle, (qmp) => detachQemuDisk(qmp, diskId, deadlineMs, signal));
  }

  async size(handle: VmHandle): Promise<VmSize> {
    return this.monitor.converse(handle, qemuSize);
  }

  async checkResize(handle: VmHandle, size: VmSize): Promise<void> {
    await this.monitor.converse(handle, (qmp) => checkQemuResize(qmp, size));
  }

  async setVcpus(handle: VmHandle, vcpus: number): Promise<void> {
    await lengthenCommandLine(handle, () => this.monitor.converse(handle, (qmp) => addQemuVcpus(qmp, vcpus)));
  }

  async setMemory(handle: VmHandle, bytes: number, deadlineMs: number, signal: AbortSignal): Promise<void> {
    await this.monitor.converse(handle, (qmp) => setQemuMemory(qmp, bytes, deadlineMs, signal));
  }

  async memory(handle: VmHandle): Promise<VmMemory> {
    return this.monitor.converse(handle, qemuMemory);
  }

  async setBalloon(handle: VmHandle, bytes: number): Promise<void> {
    await this.monitor.converse(handle, (qmp) => setQemuBalloon(qmp, bytes));
  }

  protected override async vcpuThreads(handle: VmHandle): Promise<(thread: Thread) => number | undefined> {
    const vcpus = await this.monitor.converse(handle, qemuVcpuThreads);
    return ({ inner }) => vcpus.get(inner);
  }

  async waitExit(handle: VmHandle, signal: AbortSignal, tell?: (event: GuestEvent) => void): Promise<VmExit> {
    const guest = new QemuGuestEvents((event) => {
      if (event.kind === 'reset') this.vsocks.end(handle);
      tell?.(event);
    });
    const written = new QemuRecord(handle);
    const record = new ExitRecord(handle.runDir);
    while (isRunning(handle.process)) {
      signal.throwIfAborted();
      const status = await this.monitor.listen(handle, signal, guest, written);
      if (status === null) continue;
      if (status === 'shutdown') await record.settleGuestPowerOff();
      else await record.settle(exitOf(status) ?? forcedExit);
      await this.kill(handle);
    }
    return settleEndedByItself(handle, 'QEMU', qemuLogs.vmm, this.log);
  }

  override async vsock(handle: VmHandle, port: number): Promise<Socket> {
    this.monitor.assertRunning(handle);
    return this.vsocks.connect(handle, port);
  }

  serialSocket(handle: VmHandle): string {
    return join(socketFolder(handle), qemuSockets.serial);
  }

  override async screen(handle: VmHandle): Promise<Socket> {
    return this.screens.connect(handle, (await this.facts)?.screen !== false);
  }

  override async screenshot(handle: VmHandle): Promise<Buffer> {
    return this.screens.shoot(handle, (await this.facts)?.screen !== false);
  }

  /** Connects to the new monitor as soon as it listens, and sees the VM run. */
  private async awaitRunning(spec: VmSpec, spawned: SpawnedVmm): Promise<void> {
    const begun = Date.now();
    const patience = deadlines.start + pagesDeadline(spec);
    const end = begun + patience;
    const changes = new FolderChanges(socketFolder(spec));
    try {
      for (;;) {
        if (spawned.hasEnded())
          throw qemuStartFailure(
            await readTail(join(spec.logDir, qemuLogs.vmm)),
            await spawned.ended,
            spec.hardware?.pageSize,
          );
        const status = await this.monitor.askStatus(spec).catch((error: unknown) => {
          if (error instanceof QmpError) return 'unknown';
          throw error;
        });
        if (status === 'running' || status === 'shutdown') return await this.monitor.guarded(beginRecord(spec));
        if (spec.suspended === true && (status === 'inmigrate' || status === 'paused')) await this.goOn(spec, status);
        if (Date.now() >= end)
          throw new VerbFailure(
            'vmm_start_timeout',
            `QEMU was not running after ${patience / 1000} s (${status})`,
            false,
          );
        await changes.next(startPause(begun));
      }
    } finally {
      changes.close();
    }
  }

  /** A machine that waits for what was kept is told it; then it stands still, as it did. */
  private async goOn(spec: VmSpec, status: 'inmigrate' | 'paused'): Promise<void> {
    const memory = memoryOf(spec);
    if (status === 'paused') {
      await memory.use();
      await this.monitor.guarded(this.monitor.ask(spec, 'cont'));
      return;
    }
    await tellMachine(spec, memory).catch((error: unknown) => {
      // Whoever does not listen yet, or not any more, is asked for its state again, until its time is over.
      this.log.debug({ instanceId: spec.instanceId, err: error }, 'QEMU does not take what was kept');
    });
  }

  private async end(handle: VmHandle): Promise<void> {
    const asked = await this.monitor.ask(handle, 'quit', deadlines.quit).then(
      () => true,
      (error: unknown) => {
        this.log.debug({ instanceId: handle.instanceId, err: error }, 'QEMU did not answer the quit command');
        return false;
      },
    );
    if (await waitGone(handle.process, asked ? deadlines.quit : 0)) return;
    signalProcess(handle.process, 'SIGTERM');
    if (await waitGone(handle.process, deadlines.terminate)) return;
    signalProcess(handle.process, 'SIGKILL');
    if (!(await waitGone(handle.process, deadlines.kill)))
      throw new VerbFailure('vmm_unkillable', 'QEMU does not end.', false, {}, { detail: `pid ${handle.process.pid}` });
  }

  /** A guest that has powered off meanwhile is not brought back: `cont` would run the rest of its last moment. */
  private async bring(handle: VmHandle, command: 'stop' | 'cont', wanted: VmState): Promise<void> {
    const state = await this.state(handle);
    if (state !== wanted && state !== 'stopped') await this.monitor.command(handle, command);
    const reached = await this.state(handle);
    if (reached !== wanted) throw notInState(reached, wanted);
  }
}
