import { mkdirSync, writeFileSync } from 'node:fs';
import { access, readFile, rm, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { replaceFile } from '../../../../../core/host/files/replace-file';
import { formatRecord, parseRecord, type RecordForm } from '../../../../../core/host/records/record-form';
import { VerbFailure } from '../../../../../core/m2m/verbs/verb-handler';
import { hardwareAsked } from '../../../contract/hardware';
import { limitsShown } from '../../../contract/limits';
import { machineAsked } from '../../../contract/machine-options';
import type { VmmCapability } from '../../../contract/vmm-capabilities';
import type { VmmInventory } from '../../../contract/vmm.inventory';
import { ChClient } from '../cloud-hypervisor/ch-client';
import { chConfig, chSockets, type ChPayload } from '../cloud-hypervisor/ch-config';
import { dumpChMemory, settleChDump } from '../cloud-hypervisor/ch-core-dump';
import { dialVsock } from '../cloud-hypervisor/ch-vsock';
import { chSession } from '../cloud-hypervisor/ch-session';
import type { ChTransport } from '../cloud-hypervisor/ch-transport';
import { ExitRecord } from '../common/exit-record';
import { RunFiles, unlinkAll } from '../common/run-files';
import { checkDisk, checkMachine, checkNic, checkSpec } from '../common/spec-checks';
import { memoryOf } from '../common/suspended-memory';
import { suspendInto } from '../common/suspend-into';
import { answer } from '../simulated-vmm/api';
import { EventMonitor } from '../simulated-vmm/event-monitor';
import { defaultKnobs, type SimulationKnobs } from '../simulated-vmm/knobs';
import { SimulatedVmm } from '../simulated-vmm/simulated-vmm';
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
import { crashed, forcedExit, type VmExit } from '../vmm-exit';

/** What stands for a VMM process: it is alive as long as it is in the table below. */
interface Running {
  token: string;
  client: ChClient;
  kill: () => Promise<void>;
  /** Resolves when it has ended and its cause is recorded. */
  ended: Promise<void>;
}

const stateFile = 'simulated.json';
/** There while it stands still, so that it does so after a restart of the agent too. */
const pausedFile = 'paused';
const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
/** There is no process that could be anybody's. */
const noUser = 0;
const simulatedForm: RecordForm<{ token: string; balloon: number; spec: VmSpec }> = {
  name: 'record of a simulated VM',
  version: 1,
  upgrades: {},
  schema: z.object({
    token: z.string(),
    /** Bytes that its balloon was asked to hold. */
    balloon: z.number().default(0),
    spec: z.object({
      instanceId: z.string(),
      name: z.string(),
      vcpus: z.number(),
      memoryBytes: z.number(),
      max: z.object({ vcpus: z.number(), memoryBytes: z.number() }).optional(),
      disks: z.array(
        z.object({
          id: z.string(),
          path: z.string(),
          format: z.literal('raw'),
          readonly: z.boolean(),
          detachable: z.boolean().optional(),
        }),
      ),
      kernel: z.object({ path: z.string(), initramfs: z.string().nullable(), commandLine: z.string() }).optional(),
      nics: z.array(
        z.object({
          id: z.string(),
          tap: z.string(),
          mac: z.string(),
          mtu: z.number(),
          limit: limitsShown.shape.nic.unwrap().optional(),
        }),
      ),
      limits: limitsShown.optional(),
      hardware: hardwareAsked.optional(),
      machine: machineAsked.optional(),
      netns: z.string().nullable(),
      user: z.literal(0).default(0),
      runDir: z.string(),
      logDir: z.string(),
    }),
  }),
};

const machineCapabilities = [
  'disk-limits',
  'nic-limits',
  'huge-pages',
  'shared-memory',
  'balloon',
  'vsock',
] as const satisfies VmmCapability[];
const payload: ChPayload = { firmware: '/simulated', kernel: '', cmdline: '' };

/** Simulated VMs of this process by run folder: like real ones they belong to the host, not to a driver object. */
const table = new Map<string, Running>();
/** By run folder, of those whose VM has ended and whose file still says that it runs: resolves when its cause is recorded. */
const ending = new Map<string, Promise<void>>();

const memoryWhere = (spec: VmSpec, client: ChClient): Promise<Pick<VmMemory, 'bytes' | 'heldBytes'>> =>
  spec.machine?.balloon === true
    ? chSession.memory(client)
    : Promise.resolve({ bytes: spec.memoryBytes, heldBytes: spec.memoryBytes });

const inProcess =
  (vmm: SimulatedVmm): ChTransport =>
  async (method, endpoint, body) => {
    const reply = await answer(vmm, { method, target: `/api/v1/${endpoint}`, body });
    return { status: reply.status, body: reply.body ?? '' };
  };

/**
 * The Cloud Hypervisor driver's logic over simulated VMMs inside this process: no processes, disks, taps or namespaces,
 * so thousands fit. A file says which run; after a restart of the agent they are made again from it, which to everyone
 * outside looks like re-adoption.
 */
export class SimulatedDriver extends VmmDriver {
  readonly kind = 'simulated' as const;
  private readonly knobs: SimulationKnobs;

  constructor(options: { bootMs: number; obeyPowerButton: boolean; powerOffMs: number; ejectMs?: number | null }) {
    super();
    this.knobs = {
      ...defaultKnobs,
      resources: 'none',
      guestDebug: true,
      obeyPowerButton: options.obeyPowerButton,
      powerOffMs: options.powerOffMs,
      ejectMs: options.ejectMs === undefined ? defaultKnobs.ejectMs : options.ejectMs,
      onlineMs: options.ejectMs === undefined ? defaultKnobs.onlineMs : options.ejectMs,
      latencyMs: { 'vm.boot': options.bootMs },
    };
  }

  async probe(): Promise<VmmInventory> {
    return {
      kind: this.kind,
      version: '1',
      accel: 'none',
      usable: true,
      reason: 'simulated: no guest really runs',
      capabilities: [
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
        'core-dump',
        'image-kernel',
        'bios',
        'uefi',
        ...machineCapabilities,
      ] satisfies VmmCapability[],
    };
  }

  validate(spec: VmSpec): void {
    checkSpec(spec, [chSockets.serial, chSockets.vsock]);
    checkMachine(spec, machineCapabilities, 'the simulated VMM');
  }

  async start(spec: VmSpec): Promise<VmHandle> {
    this.validate(spec);
    if (table.has(spec.runDir)) throw new VerbFailure('already_running', 'A VM runs in this folder already.', true);
    const files = RunFiles.prepare(spec.runDir, spec.logDir);
    const token = randomUUID();
    try {
      await unlinkAll(spec.runDir, [chSockets.serial, chSockets.vsock]);
      new ExitRecord(spec.runDir).clear();
      const { client } = await this.launch(spec, token);
      // One that goes on from a suspension may have one that holds something.
      const { bytes, heldBytes } = await memoryWhere(spec, client);
      const record = formatRecord(simulatedForm, {
        token,
        balloon: bytes - heldBytes,
        spec: { ...spec, user: noUser },
      });
      writeFileSync(join(spec.runDir, stateFile), record, { mode: 0o600 });
    } catch (error) {
      await table.get(spec.runDir)?.kill();
      await files.rollback();
      throw error;
    }
    return {
      driver: this.kind,
      instanceId: spec.instanceId,
      process: { pid: 0, startTime: token },
      user: noUser,
      runDir: spec.runDir,
      logDir: spec.logDir,
      startedAt: new Date().toISOString(),
    };
  }

  async state(handle: VmHandle): Promise<VmState> {
    const running = await this.find(handle);
    return running ? chSession.state(running.client) : 'stopped';
  }

  async powerButton(handle: VmHandle): Promise<void> {
    const { client } = await this.need(handle);
    await new ExitRecord(handle.runDir).buttonPressed();
    await chSession.powerButton(client);
  }

  async kill(handle: VmHandle): Promise<void> {
    const running = await this.find(handle);
    if (running) {
      await new ExitRecord(handle.runDir).settle(forcedExit);
      await running.kill();
    }
    await unlinkAll(handle.runDir, [chSockets.serial, chSockets.vsock, stateFile, pausedFile]);
  }

  async reset(handle: VmHandle): Promise<void> {
    await chSession.reset((await this.need(handle)).client);
  }

  async pause(handle: VmHandle): Promise<void> {
    await chSession.pause((await this.need(handle)).client);
    await writeFile(join(handle.runDir, pausedFile), '', { mode: 0o600 });
  }

  async resume(handle: VmHandle): Promise<void> {
    const { client } = await this.need(handle);
    await rm(join(handle.runDir, pausedFile), { force: true });
    await chSession.resume(client);
  }

  async suspend(handle: VmHandle, memoryBytes: number): Promise<void> {
    const { client } = await this.need(handle);
    const memory = memoryOf(handle);
    await memory.make();
    await suspendInto(memory, memoryBytes, {
      pause: () => chSession.pause(client),
      keep: ({ directory }) => chSession.snapshot(client, directory),
      goOn: () => chSession.resume(client),
      end: () => this.kill(handle),
    });
  }

  override async coreDump(handle: VmHandle, dumping: CoreDumping): Promise<void> {
    const { client } = await this.need(handle);
    const memory = memoryOf(handle);
    await memory.make();
    await dumpChMemory(client, memory, dumping);
  }

  override async settleCoreDump(handle: VmHandle, signal: AbortSignal): Promise<VmState> {
    return settleChDump(() => this.state(handle), memoryOf(handle), signal);
  }

  async nmi(handle: VmHandle): Promise<void> {
    await chSession.nmi((await this.need(handle)).client);
  }

  async nics(handle: VmHandle): Promise<string[]> {
    return chSession.nics((await this.need(handle)).client);
  }

  async attachNic(handle: VmHandle, nic: VmNic): Promise<void> {
    checkNic(nic);
    const running = await this.need(handle);
    await chSession.addNic(running.client, nic);
    await this.remember(handle, ({ nics }) => ({ nics: [...nics.filter(({ id }) => id !== nic.id), nic] }));
  }

  async detachNic(handle: VmHandle, nicId: string, deadlineMs: number, signal: AbortSignal): Promise<void> {
    const running = await this.need(handle);
    await chSession.removeNic(running.client, nicId, deadlineMs, signal);
    await this.remember(handle, ({ nics }) => ({ nics: nics.filter(({ id }) => id !== nicId) }));
  }

  async disks(handle: VmHandle): Promise<string[]> {
    return chSession.disks((await this.need(handle)).client);
  }

  async attachDisk(handle: VmHandle, disk: VmDisk): Promise<void> {
    checkDisk(disk);
    const plugged = { ...disk, detachable: true };
    await chSession.addDisk((await this.need(handle)).client, plugged);
    await this.remember(handle, ({ disks }) => ({ disks: [...disks.filter(({ id }) => id !== disk.id), plugged] }));
  }

  async detachDisk(handle: VmHandle, diskId: string, deadlineMs: number, signal: AbortSignal): Promise<void> {
    await chSession.removeDisk((await this.need(handle)).client, diskId, deadlineMs, signal);
    await this.remember(handle, ({ disks }) => ({ disks: disks.filter(({ id }) => id !== diskId) }));
  }

  async size(handle: VmHandle): Promise<VmSize> {
    return chSession.size((await this.need(handle)).client);
  }

  async checkResize(handle: VmHandle, size: VmSize): Promise<void> {
    await chSession.checkResize((await this.need(handle)).client, size);
  }

  async setVcpus(handle: VmHandle, vcpus: number, deadlineMs: number, signal: AbortSignal): Promise<void> {
    await chSession.setVcpus((await this.need(handle)).client, vcpus, deadlineMs, signal);
    await this.remember(handle, () => ({ vcpus }));
  }

  async setMemory(handle: VmHandle, memoryBytes: number): Promise<void> {
    await chSession.setMemory((await this.need(handle)).client, memoryBytes);
    await this.remember(handle, () => ({ memoryBytes }));
  }

  async memory(handle: VmHandle): Promise<VmMemory> {
    return chSession.memory((await this.need(handle)).client);
  }

  async setBalloon(handle: VmHandle, bytes: number): Promise<void> {
    const { client } = await this.need(handle);
    await chSession.setBalloon(client, bytes);
    const has = await chSession.memory(client);
    await this.remember(handle, () => ({}), Math.max(0, has.bytes - bytes));
  }

  /** There is no process that could be anywhere. */
  override confine(): Promise<boolean> {
    return Promise.resolve(false);
  }

  protected override vcpuThreads(): Promise<() => undefined> {
    return Promise.resolve(() => undefined);
  }

  async waitExit(handle: VmHandle, signal: AbortSignal): Promise<VmExit> {
    const running = await this.find(handle);
    signal.throwIfAborted();
    if (running) {
      const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      await Promise.race([running.ended, aborted]);
      signal.throwIfAborted();
    }
    await ending.get(handle.runDir);
    return new ExitRecord(handle.runDir).settle(crashed('unknown', 'the simulated VMM is gone'));
  }

  override async vsock(handle: VmHandle, port: number): Promise<Socket> {
    await this.need(handle);
    return dialVsock(join(handle.runDir, chSockets.vsock), noUser, port);
  }

  serialSocket(handle: VmHandle): string {
    return join(handle.runDir, chSockets.serial);
  }

  /** What is made again after a restart of the agent has the cards, the disks, the size and the balloon that it has now. */
  private async remember(
    handle: VmHandle,
    change: (spec: VmSpec) => Partial<Pick<VmSpec, 'nics' | 'disks' | 'vcpus' | 'memoryBytes'>>,
    inflated?: number,
  ): Promise<void> {
    const path = join(handle.runDir, stateFile);
    const reading = parseRecord(simulatedForm, await readFile(path, 'utf8'));
    if (reading.kind !== 'read') return;
    const { token, balloon, spec } = reading.value;
    const next = { token, balloon: inflated ?? balloon, spec: { ...spec, ...change(spec) } };
    await replaceFile(path, formatRecord(simulatedForm, next));
  }

  private async need(handle: VmHandle): Promise<Running> {
    const running = await this.find(handle);
    if (!running) throw new VerbFailure('not_running', 'The VM is not running.', true);
    return running;
  }

  /**
   * The VM of a handle, made again from its file if this process does not know it. Null when it has ended or is
   * another.
   */
  private async find(handle: VmHandle): Promise<Running | null> {
    const known = table.get(handle.runDir);
    if (known) return known.token === handle.process.startTime ? known : null;
    if (ending.has(handle.runDir)) return null;
    const text = await readFile(join(handle.runDir, stateFile), 'utf8').catch(() => null);
    if (text === null) return null;
    const reading = parseRecord(simulatedForm, text);
    if (reading.kind !== 'read') return null;
    const { token, balloon, spec } = reading.value;
    if (token !== handle.process.startTime) return null;
    // Another call may have made it while the file was read.
    const meanwhile = table.get(handle.runDir);
    if (meanwhile) return meanwhile;
    if (ending.has(handle.runDir)) return null;
    await unlinkAll(spec.runDir, [chSockets.serial, chSockets.vsock]);
    const again = await this.launch(spec, token);
    if (balloon > 0) await again.client.resize({ desired_balloon: balloon });
    if (await exists(join(handle.runDir, pausedFile))) await chSession.pause(again.client);
    return again;
  }

  private async launch(spec: VmSpec, token: string): Promise<Running> {
    const { runDir } = spec;
    mkdirSync(runDir, { recursive: true, mode: 0o700 });
    let finish: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (finish = resolve));
    const record = new ExitRecord(runDir);
    const vmm = new SimulatedVmm(this.knobs, new EventMonitor(null, () => 0), {
      end: () => {
        table.delete(runDir);
        ending.set(runDir, ended);
        void record
          .settleGuestPowerOff()
          .then(() => rm(join(runDir, stateFile), { force: true }))
          .finally(() => ending.delete(runDir))
          .then(finish, finish);
      },
    });
    const client = new ChClient(inProcess(vmm));
    const kill = async (): Promise<void> => {
      await vmm.shutdownVmm();
      await ended;
    };
    const running: Running = { token, client, kill, ended };
    table.set(runDir, running);
    if (spec.suspended === true) await chSession.restore(client, memoryOf(spec));
    else await chSession.launch(client, chConfig({ ...spec, user: noUser }, payload, { landlock: false, names: true }));
    return running;
  }
}
