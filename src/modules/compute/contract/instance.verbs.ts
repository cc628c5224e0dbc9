import { z } from 'zod';
import * as field from '../../../core/http/routes/fields';
import { openSet } from '../../../core/m2m/verbs/open-set';
import { NotUnderstood } from '../../../core/m2m/verbs/not-understood';
import { type AnyVerb, defineVerb } from '../../../core/m2m/verbs/verb';
import { coreDumpFormats } from './core-dump-formats';
import { coreDumpFile } from './core-dumps';
import { instanceSpec } from './instance-spec';
import { olderSpecs } from './instance-spec-older';

/** How a machine ended. `reason`: a word of an open set (`oom-killed`), the code or the signal of its VMM where known. */
export const instanceExit = z.object({
  reason: z.string().max(63),
  code: z.number().int().nullable(),
  signal: z.string().max(31).nullable(),
  /** When its host noticed. */
  at: field.timestamp,
});
export type InstanceExit = z.infer<typeof instanceExit>;

/** What a guest did without its machine having ended. */
export const instanceGuest = z.object({
  /** When its kernel said last that it cannot go on. */
  panickedAt: field.timestamp.nullable(),
  /** When its watchdog fired last. Null: it has not, or its agent is of before. */
  watchdogAt: field.timestamp.nullable().default(null),
  /** When it restarted itself last. */
  resetAt: field.timestamp.nullable(),
  /** It restarts itself again and again: more often than its host's configuration allows. */
  looping: z.boolean(),
  /** Programs beside its machine that ended although it goes on, for people (`share "media"`). Its agent is of before: none. */
  lost: z.array(z.string().max(100)).default([]),
});
export type InstanceGuest = z.infer<typeof instanceGuest>;

/**
 * What a host sees of an instance. State `running`, `paused`, `suspended`, `stopped`, `crashed` (its VMM ended with a failure), `absent` (no
 * trace of it here), `unknown` (the host cannot tell), or another of a newer agent, which counts as unknown too.
 */
export const observedInstance = z.object({
  instanceId: field.id,
  /** Of the last accepted `instance.ensure`. */
  generation: z.number().int(),
  state: openSet(['running', 'paused', 'suspended', 'stopped', 'crashed', 'absent'], 'unknown'),
  /** `guest` (powered off by itself), `operator`, `forced`, or the failure in words. */
  reason: z.string(),
  vmm: z.string(),
  startedAt: field.timestamp.nullable(),
  /** Grows with every change on the host: of two reports the higher one is newer, whichever way they came. */
  revision: z.number().int().nonnegative().default(0),
  /** Of its last machine, also while the next one runs. Null: none has ended, or its agent is of before. */
  exit: instanceExit.nullable().default(null),
  /** What the guest of its machine did, the one that runs or ran last. Null: its agent is of before. */
  guest: instanceGuest.nullable().default(null),
  /** CPUs of the host by vCPU, that it has for itself and is on. Null: it shares, is off, or its agent is of before. */
  dedicatedCpus: z.array(z.number().int().nonnegative()).max(1024).nullable().default(null),
});
export type ObservedInstance = z.infer<typeof observedInstance>;

/**
 * Brings the instance to the wanted power state, observed before it answers. A lower generation than the last accepted
 * one is refused (`stale_generation`). Power off: power button, up to `graceSeconds`, then hard; `reason` of the result
 * says which.
 */
export const instanceEnsure = defineVerb('instance.ensure', {
  args: z.object({
    instanceId: field.id,
    generation: z.number().int().nonnegative(),
    spec: instanceSpec,
    power: z.enum(['on', 'off']),
    graceSeconds: z.number().int().min(0),
  }),
  result: observedInstance,
  revision: 14,
  older: olderSpecs,
  timeoutMs: 15_000,
  long: true,
});
/** Guest reboot; `force` resets without asking the guest. */
export const instanceReboot = defineVerb('instance.reboot', {
  args: z.object({ instanceId: field.id, force: z.boolean(), graceSeconds: z.number().int().min(0) }),
  result: observedInstance,
  timeoutMs: 15_000,
  long: true,
});
/**
 * Its vCPUs stand still, or go on; observed before it answers. One that does not run cannot be paused
 * (`instance_not_running`), and has nothing that could go on: then the answer says what it is. `stale_generation` as for
 * `instance.ensure`.
 */
export const instancePause = defineVerb('instance.pause', {
  args: z.object({ instanceId: field.id, generation: z.number().int().nonnegative(), paused: z.boolean() }),
  result: observedInstance,
  timeoutMs: 15_000,
  long: true,
});
/**
 * The instance has the cards of this specification and no others, from its next start or at once while it runs: then its
 * VMM says so before the answer. A card whose guest does not let it go stays (`device_held`), and comes back by itself
 * should it go later. Where there is no trace of the instance there is nothing to do, and the answer says so.
 * `stale_generation` as for `instance.ensure`.
 */
export const instanceDevices = defineVerb('instance.devices', {
  args: z.object({ instanceId: field.id, generation: z.number().int().nonnegative(), spec: instanceSpec }),
  result: observedInstance,
  timeoutMs: 15_000,
  long: true,
});
/**
 * As `instance.devices`, of the disks that are detachable: the instance has these, also while it does not run, and no
 * others. Throws `volume_not_found`, and `volume_held` while another one here has the volume.
 */
export const instanceDisks = defineVerb('instance.disks', {
  args: z.object({ instanceId: field.id, generation: z.number().int().nonnegative(), spec: instanceSpec }),
  result: observedInstance,
  timeoutMs: 15_000,
  long: true,
});
/**
 * The instance has the vCPUs and the memory of this specification, from its next start or at once while it runs: then its
 * VMM says so before the answer. When it cannot, or its guest does not in time, it has those from before: throws
 * `resize_needs_stop` before anything is touched, `resize_held`, `instance_paused`. `back`: it had them before, and what
 * its machine cannot give back while it runs it has until its next start. Where there is no trace of the instance there is
 * nothing to do, and the answer says so. `stale_generation` as for `instance.ensure`.
 */
export const instanceResize = defineVerb('instance.resize', {
  args: z.object({
    instanceId: field.id,
    generation: z.number().int().nonnegative(),
    spec: instanceSpec,
    back: z.boolean(),
  }),
  result: observedInstance,
  timeoutMs: 15_000,
  long: true,
});
/**
 * Its memory goes to its host's disk and its VMM ends, or it goes on from there; observed before it answers. One that is
 * to go on and is not suspended stays what it is: the answer says so. Throws `instance_not_running`,
 * `no_room_to_suspend`, `stale_generation`.
 */
export const instanceSuspend = defineVerb('instance.suspend', {
  args: z.object({ instanceId: field.id, generation: z.number().int().nonnegative(), suspended: z.boolean() }),
  result: observedInstance,
  timeoutMs: 15_000,
  long: true,
});
/**
 * Its guest keeps so much of its memory, in bytes, and the balloon has the rest; all of it when that is what it has. Its VMM
 * says so before the answer; when its guest does not give, or take, in time (`balloon_held`) it is asked to have what it had
 * before. Ends with the machine. Throws `instance_not_running`, `instance_paused`, `no_balloon`, `balloon_too_large`.
 */
export const instanceBalloon = defineVerb('instance.balloon', {
  args: z.object({ instanceId: field.id, memoryBytes: field.bytes }),
  result: observedInstance,
  timeoutMs: 15_000,
  long: true,
});
/**
 * What is known of its memory now, in bytes. `bytes`: that it has of its VMM. `targetBytes`: that it was asked to keep, null
 * for all. `heldBytes`: that it keeps. `guest`: what it says of itself, null where nobody does. A read. Throws
 * `instance_absent`, `instance_not_running`, `no_balloon`.
 */
export const instanceMemory = defineVerb('instance.memory', {
  args: z.object({ instanceId: field.id }),
  result: z.object({
    bytes: field.bytes,
    targetBytes: field.bytes.nullable(),
    heldBytes: field.bytes,
    guest: z
      .object({ totalBytes: field.bytes, freeBytes: field.bytes, availableBytes: field.bytes, at: field.timestamp })
      .nullable(),
  }),
  timeoutMs: 15_000,
  mutating: false,
});
/** A non-maskable interrupt in every vCPU. Throws `instance_not_running`. */
export const instanceNmi = defineVerb('instance.nmi', {
  args: z.object({ instanceId: field.id }),
  result: observedInstance,
  timeoutMs: 15_000,
  long: true,
});
/**
 * What is in the memory of its machine, as a file on its host; observed whole and on the disk before it answers. The
 * machine stands still meanwhile, and goes on afterwards whatever came of it. A repeat with the same `dumpId` is answered
 * by what is there. Tells its progress. Throws `instance_not_running`, `no_core_dump`, `no_room_to_dump`,
 * `too_many_core_dumps`, `core_dumps_full`, `core_dump_failed`.
 */
export const instanceCoreDump = defineVerb('instance.core-dump', {
  args: z.object({ instanceId: field.id, dumpId: field.id, format: z.enum(coreDumpFormats) }),
  result: z.object({ dump: coreDumpFile, instance: observedInstance }),
  timeoutMs: 15_000,
  long: true,
});
/** The dump is not there, nor made any more; the machine goes on. Nothing to do where there is no trace of the instance. */
export const instanceCoreDumpAbsent = defineVerb('instance.core-dump-absent', {
  args: z.object({ instanceId: field.id, dumpId: field.id }),
  result: z.object({}),
  timeoutMs: 15_000,
  long: true,
});
/** The core dumps that its host has of it, the newest first. A read. Throws `instance_absent`. */
export const instanceCoreDumps = defineVerb('instance.core-dumps', {
  args: z.object({ instanceId: field.id }),
  result: z.object({ dumps: z.array(coreDumpFile) }),
  timeoutMs: 15_000,
  mutating: false,
});
/**
 * A deletion's: nothing of the instance comes after it. No host has accepted a newer one, also when the database was
 * restored from a backup that is older than what its hosts know. The largest `integer` of PostgreSQL.
 */
export const lastGeneration = 2 ** 31 - 1;

/** Hard stop, and every trace removed: process, sockets, cgroup, seed, logs. Volumes and ports are not its business. */
export const instanceAbsent = defineVerb('instance.absent', {
  args: z.object({ instanceId: field.id, generation: z.number().int().nonnegative() }),
  result: z.object({}),
  timeoutMs: 15_000,
  long: true,
});
/**
 * What the guest wrote on its serial console after `since`, a cursor of an earlier answer, or all that is kept. A read.
 */
export const instanceConsoleLog = defineVerb('instance.console-log', {
  args: z.object({ instanceId: field.id, since: z.string().max(40).nullable() }),
  result: z.object({ text: z.string(), cursor: z.string(), truncated: z.boolean() }),
  timeoutMs: 15_000,
  mutating: false,
});
/** Largest picture of a screen, in bytes: a full high-definition one that shows noise has some 6 MB. */
export const screenshotLimit = 8 * 1024 * 1024;
/**
 * What its screen shows now: a PNG in base64. A read. Throws `instance_not_running`, `no_screen` with the reason,
 * `screenshot_too_large`.
 */
export const instanceScreenshot = defineVerb('instance.screenshot', {
  args: z.object({ instanceId: field.id }),
  result: z.object({ png: z.base64().max((screenshotLimit / 3) * 4 + 4) }),
  timeoutMs: 15_000,
  mutating: false,
});
/** Stores what the metadata service gives the guest. `userData` in base64. */
export const instanceSeed = defineVerb('instance.seed', {
  args: z.object({
    instanceId: field.id,
    name: z.string(),
    hostname: z.string(),
    sshKeys: z.array(z.string()),
    userData: z.string(),
    /** Text in one of cloud-init's forms. Absent: none; sent only when there is some. */
    vendorData: z.string().optional(),
    flavor: z.string(),
    project: z.string(),
    /** What users gave it by key. Absent: none; sent only when there is some. */
    metadata: z.record(z.string(), z.string()).optional(),
  }),
  result: z.object({}),
  revision: 2,
  older: {
    2: (args) => {
      if (args['metadata'] !== undefined) throw new NotUnderstood('metadata of instances');
      return args;
    },
  },
});
/** What its guest reads of the cloud, in OpenStack's tree; `content` in base64. Throws `no_seed`. */
export const instanceGuestFiles = defineVerb('instance.guest-files', {
  args: z.object({ instanceId: field.id }),
  result: z.object({ files: z.array(z.object({ path: z.string(), content: z.string() })) }),
  mutating: false,
});

export const computeVerbs: readonly AnyVerb[] = [
  instanceAbsent,
  instanceBalloon,
  instanceConsoleLog,
  instanceCoreDump,
  instanceCoreDumpAbsent,
  instanceCoreDumps,
  instanceDevices,
  instanceDisks,
  instanceEnsure,
  instanceGuestFiles,
  instanceMemory,
  instanceNmi,
  instancePause,
  instanceReboot,
  instanceResize,
  instanceScreenshot,
  instanceSeed,
  instanceSuspend,
];
