import { join } from 'node:path';
import type { DiskLimits } from '../../../contract/limits';
import { firmwareIdentity } from '../common/firmware-identity';
import { socketFolder } from '../common/vmm-files';
import type { VmDisk, VmNic, VmSpec } from '../vmm-driver';
import { balloonArguments } from './qemu-balloon';
import { qemuDataDisk, qemuDataDisks, qemuDisk, qemuLimitsObject, type QemuDisk } from './qemu-disks';
import { escapeValue as escape } from './qemu-escape';
import type { Plugged } from './qemu-hotplug';
import { qemuCards, qemuNic } from './qemu-nics';
import { cpuArgument, cpuModelOf, type QemuAccel } from './qemu-cpus';
import { mainMemoryArguments } from './qemu-memory';
import { sizeArguments } from './qemu-resize';
import { shareArguments } from './qemu-shares';
import { vsockArguments } from './qemu-vsock';
import type { UefiFirmware } from './uefi-firmware';

/**
 * Sockets in the VMM's own folder. Two monitors, for each serves one client at a time: commands come and go on the
 * first, the second is listened to.
 */
export const qemuSockets = {
  commands: 'qmp.sock',
  events: 'events.sock',
  serial: 'serial.sock',
  agent: 'agent.sock',
  vnc: 'vnc.sock',
} as const;
export const qemuLogs = { vmm: 'vmm.log' } as const;
/** In the log folder: the UEFI's variables of one VM, such as what it boots. */
export const uefiVariables = 'uefi-vars.fd';

/** In the log folder: what a TPM keeps between the starts of its machine. */
export const tpmState = 'tpm';
/** In the VMM's own folder, made by the TPM. */
export const tpmSocket = 'tpm.sock';

const smbios = (instanceId: string): string => {
  const { manufacturer, product, serial, uuid } = firmwareIdentity(instanceId);
  return `type=1,manufacturer=${escape(manufacturer)},product=${escape(product)},serial=${escape(serial)}${uuid === null ? '' : `,uuid=${uuid}`}`;
};

const machine = (spec: VmSpec, accel: QemuAccel, uefi: boolean): string[] => {
  const secureBoot = spec.machine?.secureBoot === true;
  // Nothing that a cloud guest does not use: less for the firmware and the guest's kernel to probe. HPET emulation is
  // slow without KVM.
  const model = `q35,usb=off,vmport=off,smm=${secureBoot ? 'on' : 'off'},sata=off,smbus=off,dump-guest-core=off${uefi ? ',pflash0=uefi-code,pflash1=uefi-vars' : ''}`;
  const cpu = cpuArgument(spec, accel);
  return accel === 'kvm'
    ? ['-machine', model, '-accel', 'kvm', '-cpu', cpu]
    : // The translation buffer is a gigabyte by default, more than the cgroup leaves beside the guest's RAM.
      ['-machine', `${model},hpet=off`, '-accel', 'tcg,tb-size=128', '-cpu', cpu];
};

const diskArguments = ({ nodes, device }: QemuDisk): string[] => [
  ...nodes.flatMap((node) => ['-blockdev', JSON.stringify(node)]),
  '-device',
  JSON.stringify(device),
];

/** A disk that the machine keeps for its life. */
const disk = (entry: VmDisk, index: number, limited: boolean): string[] =>
  diskArguments(
    qemuDisk(
      entry,
      { file: `file${index}`, node: `disk${index}`, ...(limited && { limit: `limit${index}` }) },
      // The first boots or nothing does: a rescue that fails is not to look like one that has come up.
      { id: `d-${entry.id}`, ...(index === 0 && { bootindex: 1 }) },
    ),
  );

const dataDisk = (entry: VmDisk, index: number, limited: boolean): string[] =>
  diskArguments(qemuDataDisk(entry, qemuDataDisks.slots[index] ?? '', limited));

/** Those of its disks that come and go, or those that it keeps for its life. */
const disks = ({ disks: all }: VmSpec, detachable: boolean, limits: DiskLimits | null): string[] =>
  all
    .filter((entry) => (entry.detachable === true) === detachable)
    .flatMap((entry, index) => (detachable ? dataDisk : disk)(entry, index, limits !== null));

/** Loaded by QEMU itself, and started by its BIOS before any disk. Values of their own: a comma is nothing in them. */
const kernel = ({ kernel: loaded }: VmSpec): string[] =>
  loaded === undefined
    ? []
    : [
        ...['-kernel', loaded.path],
        ...(loaded.initramfs === null ? [] : ['-initrd', loaded.initramfs]),
        // An empty one is none.
        ...(loaded.commandLine === '' ? [] : ['-append', loaded.commandLine]),
      ];

/**
 * The flash chips of a UEFI: its code, which all VMs share, and the VM's own variables. Without them the machine has
 * its BIOS.
 */
const flash = (spec: VmSpec, uefi: UefiFirmware | null): string[] =>
  uefi === null
    ? []
    : [
        { node: 'uefi-code', filename: uefi.code, readonly: true },
        { node: 'uefi-vars', filename: join(spec.logDir, uefiVariables), readonly: false },
      ].flatMap(({ node, filename, readonly }) => [
        '-blockdev',
        JSON.stringify({
          driver: 'raw',
          'node-name': node,
          'read-only': readonly,
          'auto-read-only': false,
          file: { driver: 'file', filename, 'read-only': readonly, 'auto-read-only': false, locking: 'on' },
        }),
      ]);

/**
 * The variables of a secure machine are written in system management mode alone: its guest cannot change which keys are
 * trusted. That mode would not come back from sleep.
 */
const guardedFlash = [
  '-global',
  'driver=cfi.pflash01,property=secure,value=on',
  '-global',
  'ICH9-LPC.disable_s3=1',
] as const;

/** The TPM is a program of its own beside QEMU. */
const tpm = (spec: VmSpec): string[] => [
  '-chardev',
  `socket,id=tpm,path=${escape(join(socketFolder(spec), tpmSocket))}`,
  '-tpmdev',
  'emulator,id=tpm0,chardev=tpm',
  '-device',
  JSON.stringify({ driver: 'tpm-crb', tpmdev: 'tpm0' }),
];

/**
 * Places for cards and disks: only what is behind a root port of its own can be plugged and unplugged while the machine
 * runs. All of a kind are functions of one PCI slot, away from what takes the first free one.
 */
const rootPorts = ({ slots }: Plugged, pciSlot: string, before: number): string[] =>
  slots.flatMap((id, index) => [
    '-device',
    JSON.stringify({
      driver: 'pcie-root-port',
      id,
      bus: 'pcie.0',
      addr: `${pciSlot}.${index}`,
      multifunction: index === 0,
      chassis: before + index + 1,
      slot: before + index + 1,
    }),
  ]);

const nic = (entry: VmNic, index: number): string[] => {
  const { netdev, device } = qemuNic(entry, qemuCards.slots[index] ?? '');
  const { type, ...options } = netdev;
  // Older releases take JSON for devices only.
  const words = Object.entries(options).map(([key, value]) => `${key}=${value === false ? 'off' : value}`);
  return ['-netdev', [type, ...words].join(','), '-device', JSON.stringify(device)];
};

/** In a slot of its own at the end of the bus, as the parts of a screen. */
const watchdog = [
  '-device',
  JSON.stringify({ driver: 'i6300esb', id: 'watchdog', bus: 'pcie.0', addr: '0x1b' }),
] as const;

/**
 * What QEMU does by itself, whether an agent is there or not. What is to be stopped stands still in a run state that says
 * why, as one whose guest powered off. A panic that is to restart is the agent's: QEMU cannot, and the guest may by itself.
 */
const actions = ({ machine = {} }: VmSpec): string => {
  const atWatchdog = { restart: 'reset', stop: 'pause', notify: 'none' } as const;
  const parts = {
    reboot: 'reset',
    shutdown: 'pause',
    panic: machine.panic === 'stop' ? 'pause' : 'none',
    ...(machine.watchdog !== undefined && { watchdog: atWatchdog[machine.watchdog] }),
  };
  return Object.entries(parts)
    .map(([what, action]) => `${what}=${action}`)
    .join(',');
};

/** Two listening monitors and the serial console; a client that is not there does not hold the guest up. */
const channels = (spec: VmSpec): string[] => {
  const path = (name: string): string => escape(join(socketFolder(spec), name));
  return [
    '-chardev',
    `socket,id=commands,path=${path(qemuSockets.commands)},server=on,wait=off`,
    '-mon',
    'chardev=commands,mode=control',
    '-chardev',
    `socket,id=events,path=${path(qemuSockets.events)},server=on,wait=off`,
    '-mon',
    'chardev=events,mode=control',
    '-chardev',
    `socket,id=serial,path=${path(qemuSockets.serial)},server=on,wait=off`,
    '-device',
    'isa-serial,chardev=serial',
  ];
};

/** In QEMU's terms: where an agent in the guest listens, if there is one. */
export const agentChannel = 'agent';

/** By which an agent in the guest is talked to. Its slot is apart, so that what a guest calls its NICs does not change. */
const guestAgent = (spec: VmSpec): string[] => [
  '-chardev',
  `socket,id=${agentChannel},path=${escape(join(socketFolder(spec), qemuSockets.agent))},server=on,wait=off`,
  '-device',
  JSON.stringify({ driver: 'virtio-serial-pci', id: 'channels', bus: 'pcie.0', addr: '0x1c' }),
  '-device',
  // The name by which qemu-guest-agent finds it.
  JSON.stringify({
    driver: 'virtserialport',
    bus: 'channels.0',
    chardev: agentChannel,
    name: 'org.qemu.guest_agent.0',
  }),
];

/**
 * A screen and who may look at it: a VGA, a pointer that knows places (a PS/2 mouse only knows ways, so the two pointers
 * of a viewer would drift apart), and a VNC server at that socket. Any number of viewers share it, as they do a serial
 * console: one that asks to be alone is turned away. The devices have slots of their own at the end of the bus, for what
 * a guest calls its NICs follows from their slots, which are the same with a screen and without.
 */
export const screenArguments = (socket: string): string[] => [
  '-device',
  JSON.stringify({ driver: 'VGA', id: 'vga', bus: 'pcie.0', addr: '0x1e' }),
  '-device',
  JSON.stringify({ driver: 'virtio-tablet-pci', id: 'tablet', bus: 'pcie.0', addr: '0x1d' }),
  '-vnc',
  `unix:${escape(socket)},share=force-shared`,
];

/**
 * The whole command line of one instance (without the program). `uefi`: what boots it instead of the BIOS. `screen`:
 * it has one. `cid`: the number of its vsock; null: it has none.
 * `shutdown=pause`: a guest that powers off leaves QEMU waiting in run state `shutdown`, so its cause is still to be
 * read by an agent that was away; the driver then ends the process.
 */
export const qemuArguments = (
  spec: VmSpec,
  accel: QemuAccel,
  uefi: UefiFirmware | null = null,
  screen = false,
  cid: number | null = null,
): string[] => [
  '-name',
  `guest=${spec.instanceId},debug-threads=on`,
  '-no-user-config',
  '-nodefaults',
  '-display',
  'none',
  ...machine(spec, accel, uefi !== null),
  ...sizeArguments(spec, cpuModelOf(spec, accel)),
  ...mainMemoryArguments(spec),
  '-action',
  actions(spec),
  '-boot',
  'strict=on,menu=off',
  '-smbios',
  smbios(spec.instanceId),
  '-sandbox',
  'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny',
  ...kernel(spec),
  ...channels(spec),
  ...(spec.limits?.disk ? ['-object', JSON.stringify(qemuLimitsObject(spec.limits.disk))] : []),
  ...flash(spec, uefi),
  ...(spec.machine?.secureBoot === true ? guardedFlash : []),
  ...(spec.machine?.tpm === true ? tpm(spec) : []),
  ...disks(spec, false, spec.limits?.disk ?? null),
  ...rootPorts(qemuCards, '10', 0),
  ...rootPorts(qemuDataDisks, '11', qemuCards.slots.length),
  ...spec.nics.flatMap(nic),
  ...disks(spec, true, spec.limits?.disk ?? null),
  ...(spec.machine?.watchdog === undefined ? [] : watchdog),
  ...(spec.machine?.balloon === true ? balloonArguments : []),
  ...shareArguments(spec),
  ...(cid === null ? [] : vsockArguments(cid)),
  // By which a guest's kernel says that it cannot go on.
  '-device',
  'pvpanic',
  '-object',
  'rng-random,id=rng0,filename=/dev/urandom',
  '-device',
  'virtio-rng-pci,rng=rng0',
  ...guestAgent(spec),
  ...(screen ? screenArguments(join(socketFolder(spec), qemuSockets.vnc)) : []),
];
