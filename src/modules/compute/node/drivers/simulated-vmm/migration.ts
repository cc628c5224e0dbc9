import { unlinkSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { ApiFailure } from './api-failure';
import { decodeBody } from './decode';
import { DecodeFailure } from './decode-failure';
import { LinePeer } from './line-peer';
import {
  checkDestination,
  checkReceiver,
  placeOfUrl,
  type ReceiveMigration,
  type SendMigration,
  type UrlFault,
} from './migration-request';
import { bindError, osError } from './serial-port';
import type { SimulatedVmm } from './simulated-vmm';
import { vmConfig } from './vm-config';

const sendLayer = 'Failed to send migratable component snapshot';
const receiveLayer = 'Failed to receive migratable component snapshot';

const dial = (url: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const { kind, options } = placeOfUrl(url);
    const socket = connect(options);
    socket.once('connect', () => resolve(socket));
    socket.once('error', (error: NodeJS.ErrnoException) =>
      reject(new Error(`Error connecting to ${kind} socket: ${osError(error)}`)),
    );
  });

/** Says a thing and waits until the other side has taken it. */
const tell = async (peer: LinePeer, command: Record<string, unknown>): Promise<void> => {
  peer.say(JSON.stringify(command));
  if ((await peer.hear()) !== 'ok') throw new Error(`Error: the other side refused ${String(command['command'])}`);
};

/** The VM goes over; its process is to end when this is done. Throws what went wrong, the VM being as it was. */
const transfer = async (vmm: SimulatedVmm, url: string): Promise<void> => {
  const { vm, config, profile, events } = vmm;
  if (!vm || !config) return;
  const before = vm.state;
  const peer = new LinePeer(await dial(url));
  try {
    await tell(peer, { command: 'start' });
    await tell(peer, { command: 'config', config });
    if (profile.migration.background) events.emit('vm', 'migration-memory-iteration', { id: '0' });
    vm.pause(events);
    // Here the locks of the disks change hands.
    vm.releaseDisks();
    await tell(peer, { command: 'complete', state: before });
  } catch (error) {
    vm.lockDisks(config.disks ?? [], profile.migration.sendHeading);
    if (before === 'Running') vm.resume(events);
    throw error;
  } finally {
    peer.close();
  }
};

const needRoute = (vmm: SimulatedVmm, wanted: SendMigration, fault: UrlFault | null): void => {
  const heading = vmm.profile.migration.sendHeading;
  if (fault) throw new ApiFailure('internal', heading, sendLayer, 'Invalid send migration configuration', ...fault);
  const { memory } = vmm.config ?? {};
  const shared = memory?.shared === true || memory?.hugepages === true || memory?.zones?.every((zone) => zone.shared);
  if (wanted.local && shared !== true)
    throw new ApiFailure('internal', heading, sendLayer, 'Local migration requires shared memory or hugepages enabled');
};

/** vm.send-migration. Where the release does it in the background, what comes of it is told by events only. */
export const sendMigration = async (vmm: SimulatedVmm, wanted: SendMigration): Promise<void> => {
  const { background, sendHeading } = vmm.profile.migration;
  const fail = (...chain: string[]): ApiFailure => new ApiFailure('internal', sendHeading, sendLayer, ...chain);
  if (vmm.migrating) throw fail('There is already an ongoing migration');
  if (!background && !vmm.config) throw vmm.panic();
  if (!vmm.vm) throw fail('VM is not running');
  needRoute(vmm, wanted, background ? checkDestination(wanted) : null);
  if (!background && !/^(tcp|unix):/.test(wanted.destination_url))
    throw fail(`Could not extract path from URL: ${wanted.destination_url}`);
  const run = async (): Promise<void> => {
    await transfer(vmm, wanted.destination_url);
    if (background) vmm.events.emit('vm', 'migration-finished');
    vmm.migrating = null;
    await vmm.shutdownVmm();
  };
  if (!background) {
    await run().catch((error: Error) => {
      throw fail(error.message);
    });
    return;
  }
  vmm.migrating = { info: structuredClone(vmm.info()) };
  vmm.events.emit('vm', 'migration-started');
  void run().catch(() => {
    vmm.events.emit('vm', 'migration-failed');
    vmm.migrating = null;
    if (vmm.deaf) vmm.end(0);
  });
};

/** One connection, taken from a listener that then is no more. */
const accept = (url: string, heading: string, listening: () => void): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const { kind, options } = placeOfUrl(url);
    const server: Server = createServer((socket) => {
      server.close();
      if ('path' in options) removeSocket(options.path);
      resolve(socket);
    });
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new ApiFailure(
          'internal',
          heading,
          receiveLayer,
          `Error binding to ${kind} socket`,
          'path' in options ? bindError(error, options.path) : osError(error),
        ),
      ),
    );
    server.listen(options, listening);
  });

const removeSocket = (file: string): void => {
  try {
    unlinkSync(file);
  } catch {
    // The listener was quicker.
  }
};

interface Incoming {
  command: string;
  config?: unknown;
  state?: string;
}

/** What one command does. Returns true when the VM is here. */
const obey = async (vmm: SimulatedVmm, incoming: Incoming, heading: string): Promise<boolean> => {
  if (incoming.command === 'config') {
    const config = decodeBody(vmConfig, JSON.stringify(incoming.config));
    vmm.config = config;
    vmm.events.emit('vm', 'restoring');
    await vmm.construct(config, heading, { locks: false });
    vmm.vm?.guest?.pause();
    if (vmm.vm) vmm.vm.state = 'Paused';
    vmm.events.emit('vm', 'restored');
  }
  if (incoming.command !== 'complete') return false;
  vmm.vm?.lockDisks(vmm.config?.disks ?? [], heading);
  if (incoming.state === 'Running') vmm.vm?.resume(vmm.events);
  return true;
};

/** vm.receive-migration: the API waits until the VM is here, or its sender has gone. */
export const receiveMigration = async (vmm: SimulatedVmm, wanted: ReceiveMigration): Promise<void> => {
  const { background, receiveHeading: heading } = vmm.profile.migration;
  const fail = (...chain: string[]): ApiFailure => new ApiFailure('internal', heading, receiveLayer, ...chain);
  if (vmm.migrating) throw fail('There is already an ongoing migration');
  if (vmm.vm && background) throw fail("Can't receive a migration when a VM is already created");
  const fault = background ? checkReceiver(wanted, vmm.profile.migration.receiverFault) : null;
  if (fault) throw fail('Invalid receive migration configuration', ...fault);
  if (!/^(tcp|unix):/.test(wanted.receiver_url)) throw fail(`Could not extract path from URL: ${wanted.receiver_url}`);
  const told = (event: string): void => {
    if (background) vmm.events.emit('vm', event);
  };
  const socket = await accept(wanted.receiver_url, heading, () => told('migration-receive-ready'));
  told('migration-receive-started');
  const peer = new LinePeer(socket);
  try {
    for (let here = false; !here; ) {
      const line = await peer.hear().catch((error: Error) => {
        throw new ApiFailure('internal', heading, 'Socket error', error.message);
      });
      here = await obey(vmm, JSON.parse(line) as Incoming, heading);
      peer.say('ok');
    }
    told('migration-receive-finished');
  } catch (error) {
    vmm.discard();
    if (!(error instanceof ApiFailure || error instanceof DecodeFailure || error instanceof SyntaxError)) throw error;
    if (error instanceof ApiFailure && error.chain.includes('Socket error')) throw error;
    told('migration-receive-failed');
    peer.say('no');
    throw new ApiFailure(
      'internal',
      heading,
      'Failed to complete migration for migratable component',
      'Migration was aborted',
    );
  } finally {
    peer.close();
  }
};
