import { z } from 'zod';
import * as field from '../../../core/http/routes/fields';
import { pageQuery } from '../../../core/http/routes/pagination';
import { vmmKind } from '../../host/contract/vmm-kind';
import { vendorData } from '../../image/contract/vendor-data';
import { driveForms } from '../../network/contract/drive-forms';
import { securityGroupRefs } from '../../network/contract/security-group.api';
import { lock, metadata, tags } from './instance-labels';
import { instanceStates } from './instance-states';
import { maximum } from './instance-maximum';
import { hardwareInput, hardwareShown, memoryRefusal } from './hardware';
import { limitsInput, limitsShown } from './limits';
import { machineInput, machineShown } from './machine-options';
import { shareAsked, sharesInput } from './shares';
import { restartPolicies } from './restart-policies';

/** Network cards of one instance. */
export const mostPorts = 8;
/** Data volumes of one instance. */
export const mostVolumes = 8;
/** Of user data, as the user gave it. */
export const maxUserDataBytes = 65_536;

const flavorFields = z.strictObject({
  name: field.displayName,
  description: field.description.default(''),
  vcpus: z.number().int().min(1).max(1024),
  memoryBytes: field.bytes.min(64 * 1024 * 1024).multipleOf(1024 * 1024),
  /** Root disk; 0 means as large as the image. */
  diskBytes: field.bytes.multipleOf(1024 * 1024).default(0),
  vendorData: vendorData.default(null),
  /** Its instances run on this kind of VMM. */
  vmm: vmmKind.default(null),
  /** How fast the disks and cards of its instances are. */
  limits: limitsInput,
  /** What its instances are made of. */
  hardware: hardwareInput,
});
export const createFlavor = flavorFields.superRefine(({ memoryBytes, hardware }, context) => {
  const message = memoryRefusal(memoryBytes, hardware.pageSize);
  if (message !== undefined) context.addIssue({ code: 'custom', path: ['memoryBytes'], message });
});
/** Sizes stay: instances were made with them. */
export const updateFlavor = z.strictObject({
  name: field.displayName.optional(),
  description: field.description.optional(),
  vendorData: vendorData.optional(),
});
export const flavor = flavorFields
  .extend({
    id: field.id,
    createdAt: field.timestamp,
    description: z.string(),
    diskBytes: field.bytes,
    vendorData: z.string().nullable(),
    vmm: z.string().nullable(),
    limits: limitsShown,
    hardware: hardwareShown,
  })
  .meta({ id: 'Flavor' });

/** A directory that instances of the project can mount, on some host. */
export const share = z
  .object({
    name: z.string(),
    /** Only for reading, wherever it is. */
    readonly: z.boolean(),
    /** Where it is; null for those who may not see hosts. */
    hosts: z.array(z.object({ id: field.id, name: z.string(), readonly: z.boolean() })).nullable(),
  })
  .meta({ id: 'Share' });
export type Share = z.infer<typeof share>;

export const createSshKey = z.strictObject({ name: field.displayName, publicKey: z.string().max(16_384) });
export const updateSshKey = z.strictObject({ name: field.displayName.optional() });
export const sshKey = z
  .object({
    id: field.id,
    projectId: field.id,
    name: z.string(),
    type: z.string(),
    fingerprint: z.string(),
    publicKey: z.string(),
    createdAt: field.timestamp,
  })
  .meta({ id: 'SshKey' });

export const createInstance = z.strictObject({
  name: field.displayName,
  description: field.description.default(''),
  /** Flavor, image and network by id or name. */
  flavor: field.ref,
  image: field.ref,
  networks: z
    .array(
      z.strictObject({
        network: field.ref,
        address: z.ipv4().nullish(),
        /**
         * The guest's default route goes this way. At most one says so; without one it is the first network with NAT.
         */
        defaultRoute: z.boolean().nullish(),
        /** Names or ids of the port's security groups; the project's `default` when missing. */
        securityGroups: securityGroupRefs.nullish(),
      }),
    )
    .min(1)
    .max(mostPorts),
  /** Names or ids of stored keys, or whole public keys in OpenSSH form. */
  sshKeys: z.array(z.string().min(1).max(16_384)).max(20).default([]),
  /** Handed to the guest byte for byte: base64 of at most 65,536 bytes. Null or empty for none. */
  userData: z.base64().nullable().default(null),
  /**
   * A read-only disk with what the metadata service tells, for guests that cannot ask it: OpenStack's tree (label
   * `config-2`) or NoCloud's (`cidata`). Null for none.
   */
  configDrive: z.enum(driveForms).nullable().default(null),
  /** Seconds that a stop waits for the guest before it is forced. */
  stopGraceSeconds: z.number().int().min(0).max(600).default(30),
  /**
   * What its host does of itself when it ends by a failure: nothing, or it starts it again, a few times within a while.
   * Changed, it holds from the next start on.
   */
  restartPolicy: z.enum(restartPolicies).default('never'),
  machine: machineInput,
  /** Directories of its host that its guest can mount, by the names of `GET /shares`. */
  shares: sharesInput,
  /** The most that it may get while it runs; its host claims what it has. */
  ...maximum,
  /** Runs on this kind of VMM; not another one than its flavor or its image asks for. */
  vmm: vmmKind.default(null),
  tags: tags.default([]),
  /** Read by the guest, under `meta` of OpenStack's tree. */
  metadata: metadata.default({}),
  /** Deleting it is refused until this is taken away. */
  protected: z.boolean().default(false),
  /** Place on this host (id or name); admins only. */
  host: field.ref.optional(),
});

/** Several of a kind: `web` and a count of 3 make `web-1`, `web-2` and `web-3`, all of them or none. */
export const createInstances = createInstance.extend({ count: z.number().int().min(1).max(100) });

/** What a create would make, were it asked for now. */
export const instanceCheck = z
  .object({
    /** One per instance, in order. Another create may take one meanwhile. */
    hostnames: z.array(z.string()),
  })
  .meta({ id: 'InstanceCheck' });

/** How a machine ended. */
const lastExit = z.object({
  /**
   * `guest-power-off`, `power-button`, `forced`, `exited` (its VMM, with a code), `killed` (by a signal), `oom-killed`
   * (memory ran out), `seccomp` (its VMM made a forbidden system call), `vmm-error`, `host-restarted`, `start-failed`,
   * `unknown`; later releases may know more.
   */
  reason: z.string(),
  code: z.number().int().nullable(),
  signal: z.string().nullable(),
  /** When its host noticed. */
  at: field.timestamp,
});

export const instance = z
  .object({
    id: field.id,
    projectId: field.id,
    name: z.string(),
    /**
     * What its guest is called: derived from the name, unique in the project, so that it is in each of its networks too.
     * It stays when the name changes.
     */
    hostname: z.string(),
    description: z.string(),
    state: z.enum(instanceStates),
    /** Why it is in this state, in words; empty when all is well. */
    stateReason: z.string(),
    flavor: z.object({
      id: field.id.nullable(),
      name: z.string(),
      vcpus: z.number().int(),
      memoryBytes: field.bytes,
      diskBytes: field.bytes,
      /** How fast its disks are, all together, and each of its cards. */
      limits: limitsShown,
      hardware: hardwareShown,
    }),
    image: z.object({ id: field.id, name: z.string() }),
    /** Null while it has none, and for those who may not see hosts. */
    host: z.object({ id: field.id, name: z.string() }).nullable(),
    /**
     * CPUs of its host that it has for itself, by vCPU. Null: it shares, or is off, and for those who may not see hosts.
     */
    dedicatedCpus: z.array(z.number().int()).nullable(),
    ports: z.array(
      z.object({ id: field.id, networkId: field.id, network: z.string(), mac: z.string(), address: z.string() }),
    ),
    sshKeys: z.array(z.string()),
    /** Seconds that a stop waits for the guest before it is forced. */
    stopGraceSeconds: z.number().int(),
    configDrive: z.enum(driveForms).nullable(),
    /** What was asked of its machine. */
    machine: machineShown,
    /** Directories of its host that its guest can mount by their names, unless it is in rescue. */
    shares: z.array(shareAsked),
    /** The most that it may get while it runs. Null: what its flavor has. */
    maxVcpus: z.number().int().nullable(),
    maxMemoryBytes: field.bytes.nullable(),
    /** The kind of VMM that it runs on, or ran on last. */
    vmm: z.string().nullable(),
    /** The kind that it was asked to run on; null: its host chooses. */
    wantedVmm: z.string().nullable(),
    tags: z.array(z.string()),
    /** What its guest reads under `meta` of OpenStack's tree. */
    metadata: z.record(z.string(), z.string()),
    /** Deleting it is refused. */
    protected: z.boolean(),
    /** All but reads, its console and unlocking is refused. `by`: who locked it. */
    lock,
    /** The live task on it, if any. */
    taskId: field.id.nullable(),
    createdAt: field.timestamp,
    /** When its VMM was last started, as its host reported. */
    startedAt: field.timestamp.nullable(),
    observedAt: field.timestamp.nullable(),
    /** How it ended the last time, also while it runs again; null: never yet. */
    lastExit: lastExit.nullable(),
    restartPolicy: z.enum(restartPolicies),
    /** What its guest did since its machine was started; null: its host has told nothing of it. */
    guest: z
      .object({
        /** When its kernel said last that it cannot go on. */
        panickedAt: field.timestamp.nullable(),
        /** When its watchdog fired last. */
        watchdogAt: field.timestamp.nullable(),
        /** When it restarted itself last. */
        resetAt: field.timestamp.nullable(),
        /** It restarts itself again and again. */
        looping: z.boolean(),
        /** What failed of its machine although it goes on, until it is stopped and started: `share "media"`. */
        lost: z.array(z.string()),
      })
      .nullable(),
    /** It is in rescue: its machine boots from a temporary disk of this image, and has its own as a second one. */
    rescue: z.object({ image: z.object({ id: field.id, name: z.string() }) }).nullable(),
  })
  .meta({ id: 'Instance' });
export const updateInstance = z.strictObject({
  name: field.displayName.optional(),
  description: field.description.optional(),
  stopGraceSeconds: z.number().int().min(0).max(600).optional(),
  /** All of them. */
  tags: tags.optional(),
  /** All of it. A task brings it to the host (`taskId`), so the guest reads it a moment later. */
  metadata: metadata.optional(),
  protected: z.boolean().optional(),
  restartPolicy: z.enum(restartPolicies).optional(),
});
/** 202 of every slow verb: the object as it is now, and its task. */
export const instanceWithTask = z.object({ instance, taskId: field.id }).meta({ id: 'InstanceWithTask' });
/** Network by id or name; without an address the next free one. */
export const attachPort = z.strictObject({
  network: field.ref,
  address: z.ipv4().nullish(),
  securityGroups: securityGroupRefs.nullish(),
});
export const portWithTask = instanceWithTask.extend({ portId: field.id }).meta({ id: 'PortWithTask' });
export const attachVolume = z.strictObject({ volume: field.ref, readonly: z.boolean().default(false) });
export const attachedVolumeWithTask = instanceWithTask
  .extend({ volumeId: field.id })
  .meta({ id: 'AttachedVolumeWithTask' });
export const instancesWithTask = z
  .object({ instances: z.array(instance), taskId: field.id })
  .meta({ id: 'InstancesWithTask' });

export const instanceListQuery = pageQuery.extend({
  state: z.enum(instanceStates).optional(),
  name: z.string().max(63).optional(),
  host: field.ref.optional(),
  tag: z.string().max(63).optional(),
  sort: z.enum(['name', '-name', 'createdAt', '-createdAt']).default('-createdAt'),
});
export const stopRequest = z
  .strictObject({ force: z.boolean().default(false), graceSeconds: z.number().int().min(0).max(600).optional() })
  .default({ force: false });
/** Another flavor, by id or name, whose disk is not smaller. While it runs: within its maximum. */
export const resizeRequest = z.strictObject({ flavor: field.ref });
/** By id or name; its own when missing. */
export const rebuildRequest = z.strictObject({ image: field.ref.optional() }).default({});
/** By id or name: what the temporary disk holds. */
export const rescueRequest = z.strictObject({ image: field.ref });
/** Bytes of its memory that its guest keeps, in whole mebibytes; the rest goes to its host. Null: all of it. */
export const balloonRequest = z.strictObject({
  memoryBytes: field.bytes.multipleOf(1024 * 1024).nullable(),
});
/** Of an instance with a balloon that runs, in bytes. */
export const instanceMemoryShown = z
  .object({
    /** That its machine has. */
    memoryBytes: field.bytes,
    /** That its guest was asked to keep; null: all of it. */
    targetBytes: field.bytes.nullable(),
    /** That its guest keeps. Before it runs out of memory it takes more than it was asked to keep. */
    heldBytes: field.bytes,
    /** What it says of itself; null: its VMM does not ask it, or it has no driver for the balloon. */
    guest: z
      .object({
        totalBytes: field.bytes,
        freeBytes: field.bytes,
        /** What programs could still get without swapping. */
        availableBytes: field.bytes,
        at: field.timestamp,
      })
      .nullable(),
  })
  .meta({ id: 'InstanceMemory' });
export type InstanceMemory = z.infer<typeof instanceMemoryShown>;
export const rebootRequest = z.strictObject({ force: z.boolean().default(false) }).default({ force: false });
/** A port of the guest: any of VIRTIO's but the last, which means all. */
export const vsockPort = z.number().int().min(1).max(0xfffffffe);
/** The port at which something in the guest listens. */
export const vsockRequest = z.strictObject({ port: vsockPort });
/** A WebSocket at this path carries the stream's bytes, both ways. The ticket is good once, for a few seconds. */
export const vsockTicket = z
  .object({ ticket: z.string(), expiresIn: z.number().int(), path: z.string() })
  .meta({ id: 'VsockTicket' });
export const consoleLogQuery = z.strictObject({
  project: z.string().max(100).optional(),
  /** A `cursor` of an earlier answer: only what came after it. */
  since: z
    .string()
    .regex(/^[0-9a-f]{16}:\d{1,15}$/, { error: 'a cursor of an earlier answer' })
    .optional(),
});
/**
 * What the guest wrote on its serial console, as far as its host keeps it (the last MiB). `truncated`: something that
 * came before, or since then, is not kept any more.
 */
export const consoleLog = z
  .object({ text: z.string(), cursor: z.string(), truncated: z.boolean() })
  .meta({ id: 'ConsoleLog' });
/** `serial`: the guest's serial line. `vnc`: its screen, keyboard and pointer, where its VMM has them. */
const consoleProtocol = z.enum(['serial', 'vnc']);
export type ConsoleProtocol = z.infer<typeof consoleProtocol>;
export const consoleRequest = z
  .strictObject({ protocol: consoleProtocol.default('serial') })
  .default({ protocol: 'serial' });
/**
 * A one-time ticket for the WebSocket at `path`, binary both ways: `GET /api/v1/console?ticket=` (a serial line; text
 * frames are JSON control: {"resize":{"cols","rows"}}) or `GET /api/v1/vnc?ticket=` (RFB, without a password).
 */
export const consoleTicket = z
  .object({ ticket: z.string(), expiresIn: z.number().int(), protocol: consoleProtocol, path: z.string() })
  .meta({ id: 'ConsoleTicket' });

/**
 * What the guest reads of the cloud, in OpenStack's tree, as its host has it. `text` is null for what is no text; user
 * data is shown too.
 */
export const guestData = z
  .object({
    hostname: z.string(),
    files: z.array(z.object({ path: z.string(), bytes: z.number().int(), text: z.string().nullable() })),
  })
  .meta({ id: 'GuestData' });
export type GuestData = z.infer<typeof guestData>;
export type Flavor = z.infer<typeof flavor>;
export type SshKey = z.infer<typeof sshKey>;
export type Instance = z.infer<typeof instance>;
