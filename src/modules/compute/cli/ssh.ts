import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { access, mkdir } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { dirname, join } from 'node:path';
import type { CliContext } from '../../../core/cli/cli-context';
import { CliFailure, exitCodes } from '../../../core/cli/cli-failure';
import { configPath } from '../../../core/cli/session/profile-store';
import { hostHash, networkNetns } from '../../network/contract/namespaces';
import type { Instance } from '../contract/compute.api';

const sshPort = 22;
/** How long an address may take to answer before it counts as out of reach. */
const reachMs = 3_000;

export interface SshOptions {
  user?: string;
  identity?: string;
}

type Port = Instance['ports'][number];

interface Way {
  address: string;
  /** The network's namespace on this machine; undefined: straight. */
  netns?: string;
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** True when something takes connections at the ssh port of the address. */
const answers = (address: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createConnection({ host: address, port: sshPort, timeout: reachMs });
    const end = (reached: boolean) => (): void => {
      socket.destroy();
      resolve(reached);
    };
    socket.once('connect', end(true)).once('timeout', end(false)).once('error', end(false));
  });

const failure = (message: string, hint: string): CliFailure =>
  new CliFailure(message, { exitCode: exitCodes.failed, code: 'no_way', hint });

/** The namespace of a port's network, when this machine is the instance's host. */
const namespaceHere = async (instance: Instance, port: Port): Promise<string | undefined> => {
  if (!instance.host) return undefined;
  const name = networkNetns(hostHash(instance.host.id), port.networkId);
  return (await exists(`/run/netns/${name}`)) ? name : undefined;
};

/** How to get to the guest from here. Throws when there is no way, saying where one is. */
const findWay = async (instance: Instance): Promise<Way> => {
  const there = instance.host
    ? `On the host ${instance.host.name}, as root: vcctl instance ssh ${instance.id}`
    : 'It has no host yet.';
  for (const port of instance.ports) {
    const netns = await namespaceHere(instance, port);
    if (netns === undefined) continue;
    if (process.getuid?.() !== 0)
      throw failure(
        `This machine is the host of "${instance.name}", but only root may enter the namespace of its network.`,
        'Run it as root, e.g. with sudo -E.',
      );
    return { address: port.address, netns };
  }
  for (const { address } of instance.ports) if (await answers(address)) return { address };
  const addresses = instance.ports.map((p) => `${p.address} on ${p.network}`).join(', ');
  throw failure(
    `There is no way to "${instance.name}" from here: nothing answers by ssh at ${addresses}. Its networks are private to the cloud.`,
    `${there}. Without ssh: vcctl instance console ${instance.id}`,
  );
};

/**
 * Runs ssh to a guest. Its key is kept under the instance's id in a file of our own: addresses are used again, by other
 * guests and in other networks. Ends with ssh's own exit code.
 */
export const openSsh = async (
  context: CliContext,
  instance: Instance,
  command: string[],
  options: SshOptions,
): Promise<void> => {
  if (instance.ports.length === 0) throw failure(`"${instance.name}" has no address yet.`, 'See: vcctl instance show');
  if (!['running', 'rescued', 'unknown'].includes(instance.state))
    throw failure(`"${instance.name}" is ${instance.state}.`, `Start it: vcctl instance start ${instance.id}`);
  const { address, netns } = await findWay(instance);
  const hosts = join(dirname(configPath(process.env)), 'known_hosts');
  await mkdir(dirname(hosts), { recursive: true, mode: 0o700 });
  const ssh = [
    'ssh',
    '-o',
    `UserKnownHostsFile=${hosts}`,
    '-o',
    `HostKeyAlias=${instance.id}`,
    '-o',
    'StrictHostKeyChecking=accept-new',
    ...(options.user === undefined ? [] : ['-l', options.user]),
    ...(options.identity === undefined ? [] : ['-i', options.identity]),
    '--',
    address,
    ...command,
  ];
  context.info(
    netns === undefined
      ? `${instance.name}: straight to ${address}`
      : `${instance.name}: ${address}, through the namespace ${netns}`,
  );
  const exitCode = await run(netns === undefined ? ssh : ['ip', 'netns', 'exec', netns, ...ssh]);
  if (exitCode !== 0) throw new CliFailure('ssh failed', { exitCode, code: 'ssh_failed', silent: true });
};

const run = ([program = '', ...args]: string[]): Promise<number> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: 'inherit' });
    child.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'ENOENT'
          ? failure(
              `There is no program ${program} on this machine.`,
              program === 'ssh' ? 'On Debian: apt install openssh-client' : 'On Debian: apt install iproute2',
            )
          : error,
      ),
    );
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
