import { ApiFailure } from './api-failure';
import { DecodeFailure } from './decode-failure';
import {
  decodeBody,
  defaulted,
  flag,
  object,
  optional,
  required,
  text,
  u32,
  u64,
  variant,
  withoutNulls,
  type Decoder,
} from './decode';
import { coreDump } from './core-dump';
import { addDevice, removeDevice } from './hotplug';
import type { DeviceList } from './owned-vm';
import type { WireRequest } from './request-parser';
import { resize, resizeDisk, resizeZone } from './resize';
import type { SimulatedVmm } from './simulated-vmm';
import { receiveMigration, sendMigration } from './migration';
import { receiveMigrationBody, sendMigrationBody } from './migration-request';
import { restore, snapshot } from './snapshot';
import * as types from './vm-config';
import type { WireReply } from './wire-server';

const root = '/api/v1/';

interface Endpoint {
  /** `action` endpoints answer PATCH and DELETE with an empty 400, the others say what is wrong. */
  verb: 'GET' | 'PUT';
  action: boolean;
  body: 'none' | 'needed' | 'ignored';
  run: (vmm: SimulatedVmm, body: string) => Promise<unknown> | unknown;
}

const act = (run: (vmm: SimulatedVmm) => Promise<unknown> | unknown): Endpoint => ({
  verb: 'PUT',
  action: true,
  body: 'none',
  run,
});
const call = <T>(
  decode: Decoder<T>,
  run: (vmm: SimulatedVmm, argument: T) => Promise<unknown> | unknown,
): Endpoint => ({
  verb: 'PUT',
  action: true,
  body: 'needed',
  run: (vmm, body) => run(vmm, decodeBody(decode, body)),
});
const add = (list: DeviceList, decode: Decoder<types.DeviceItem>): Endpoint =>
  call(decode, (vmm, item) => addDevice(vmm, list, item) ?? undefined);
/** Answers nothing, so 204. */
const silently =
  <A extends unknown[]>(run: (...args: A) => void | Promise<void>) =>
  async (...args: A): Promise<undefined> => {
    await run(...args);
    return undefined;
  };

const resizeBody = object('VmResizeData', {
  desired_vcpus: optional(u32, { listed: true }),
  desired_ram: optional(u64, { listed: true }),
  desired_balloon: optional(u64, { listed: true }),
});
const restoreBody = object('RestoreConfig', {
  source_url: required(text),
  prefault: defaulted(flag, false),
  memory_restore_mode: defaulted(variant('Copy', 'OnDemand'), 'Copy'),
  resume: defaulted(flag, false),
});

const endpoints: Record<string, Endpoint> = {
  'vmm.ping': {
    verb: 'GET',
    action: false,
    body: 'ignored',
    run: (vmm) => ({
      build_version: vmm.profile.buildVersion,
      version: vmm.profile.buildVersion.slice(1),
      pid: process.pid,
      features: [...(vmm.knobs.guestDebug ? ['guest_debug'] : []), 'io_uring', 'kvm'],
    }),
  },
  'vmm.shutdown': { verb: 'PUT', action: false, body: 'ignored', run: async (vmm) => vmm.shutdownVmm().then(() => '') },
  'vm.create': {
    verb: 'PUT',
    action: false,
    body: 'needed',
    run: (vmm, body) => vmm.create(decodeBody(types.vmConfig, body)),
  },
  'vm.info': { verb: 'GET', action: false, body: 'ignored', run: (vmm) => vmm.info() },
  'vm.counters': { verb: 'GET', action: true, body: 'ignored', run: (vmm) => vmm.counters() },
  'vm.boot': act((vmm) => vmm.boot()),
  'vm.delete': act((vmm) => vmm.delete()),
  'vm.shutdown': act((vmm) => vmm.shutdown()),
  'vm.reboot': act((vmm) => vmm.reboot()),
  'vm.pause': act((vmm) => vmm.pause()),
  'vm.resume': act((vmm) => vmm.resume()),
  'vm.power-button': act((vmm) => vmm.powerButton()),
  'vm.nmi': act((vmm) => vmm.nmi()),
  'vm.resize': call(resizeBody, silently(resize)),
  'vm.resize-disk': call(
    object('VmResizeDiskData', { id: required(text), desired_size: required(u64) }),
    (vmm, { id, desired_size }) => resizeDisk(vmm, id, desired_size),
  ),
  'vm.resize-zone': call(
    object('VmResizeZoneData', { id: required(text), desired_ram: required(u64) }),
    (vmm, { id, desired_ram }) => resizeZone(vmm, id, desired_ram),
  ),
  'vm.add-disk': add('disks', types.disk),
  'vm.add-net': add('net', types.net),
  'vm.add-fs': add('fs', types.fs),
  'vm.add-pmem': add('pmem', types.pmem),
  'vm.add-device': add('devices', types.device),
  'vm.add-user-device': add('user_devices', types.userDevice),
  'vm.add-vdpa': add('vdpa', types.vdpa),
  'vm.add-vsock': add('vsock', types.vsock),
  'vm.add-generic-vhost-user': add('generic_vhost_user', types.genericVhostUser),
  'vm.remove-device': call(object('VmRemoveDeviceData', { id: required(text) }), (vmm, { id }) =>
    removeDevice(vmm, id),
  ),
  'vm.snapshot': call(object('VmSnapshotConfig', { destination_url: required(text) }), (vmm, { destination_url }) =>
    snapshot(vmm, destination_url),
  ),
  'vm.coredump': call(object('VmCoredumpData', { destination_url: required(text) }), (vmm, { destination_url }) =>
    coreDump(vmm, destination_url),
  ),
  'vm.restore': call(restoreBody, silently(restore)),
  'vm.send-migration': call(sendMigrationBody, silently(sendMigration)),
  'vm.receive-migration': call(receiveMigrationBody, silently(receiveMigration)),
};

/** Numbers beyond 2^53 are written out in full. */
const stringify = (value: unknown): string =>
  JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'bigint' ? `\u0000${member}\u0000` : member,
  ).replace(/"\\u0000(\d+)\\u0000"/g, '$1');

const failure = (vmm: SimulatedVmm, error: unknown): WireReply => {
  const statuses = vmm.profile.statuses;
  if (error instanceof DecodeFailure)
    return { status: 400, body: stringify(['Failed to deserialize JSON', error.message]) };
  if (!(error instanceof ApiFailure)) throw error;
  const status = statuses[error.kind] ?? 500;
  if (error.kind === 'pending') return { status, body: stringify(['Too Many Requests']) };
  return { status, body: stringify(['Error from API', ...error.chain]) };
};

const badRequest: WireReply = { status: 400, body: '["Bad Request"]' };

/** What is wrong with a request before the VMM is asked; null when nothing is. */
const refused = (endpoint: Endpoint, name: string, request: WireRequest): WireReply | null => {
  if (request.method !== endpoint.verb)
    return endpoint.action && (request.method === 'PATCH' || request.method === 'DELETE')
      ? { status: 400 }
      : badRequest;
  if (endpoint.body === 'none' && request.body !== null) return badRequest;
  if (endpoint.body === 'needed' && request.body === null) return name === 'vm.create' ? { status: 400 } : badRequest;
  return null;
};

/** Answers one API request. */
export const answer = async (vmm: SimulatedVmm, request: WireRequest): Promise<WireReply> => {
  const name = request.target.startsWith(root) ? request.target.slice(root.length) : '';
  const endpoint = Object.hasOwn(endpoints, name) ? endpoints[name] : undefined;
  // Other builds than those for debugging were made without it.
  if (!endpoint || (name === 'vm.coredump' && !vmm.knobs.guestDebug)) return { status: 404, body: '["Not Found"]' };
  const refusal = refused(endpoint, name, request);
  if (refusal) return refusal;
  // A boot takes its time after it was announced.
  if (name !== 'vm.boot') await vmm.latency(name);
  const { crashAt } = vmm.knobs;
  if (crashAt?.endpoint === name) {
    vmm.end(crashAt.exit);
    return new Promise<WireReply>(() => undefined);
  }
  try {
    const result = await endpoint.run(vmm, request.body ?? '');
    if (result === undefined) return { status: 204 };
    return { status: 200, body: result === '' ? '' : stringify(vmm.profile.omitsNull ? withoutNulls(result) : result) };
  } catch (error) {
    return failure(vmm, error);
  }
};
