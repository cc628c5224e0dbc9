import { spawn } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/eventually';
import { Place } from './place';

/** Where a VMM was told that its card is. */
export interface Plug {
  /** Namespace of the tap, null for that of the host. */
  netns: string | null;
  tap: string;
  mac: string;
  mtu: number;
}

export interface Lease {
  address: string;
  mtu: number;
  gateway: string;
}

const nicName = 'eth0';

/**
 * A guest without a virtual machine: a namespace whose card is wired to a tap, which is opened as a VMM opens it. What
 * it sends and gets are frames, so it knows nothing of how the network is made.
 */
export class Endpoint extends Place {
  address = '';
  gateway = '';

  private constructor(
    name: string,
    netns: string,
    readonly plug: Plug,
  ) {
    super(name, netns);
  }

  /** @param netns an empty namespace of the caller's, which stays the caller's */
  static async open(name: string, netns: string, plug: Plug, directory: string): Promise<Endpoint> {
    const endpoint = new Endpoint(name, netns, plug);
    const [a, b] = [join(directory, `${name}.tap`), join(directory, `${name}.nic`)];
    // Of an earlier one of that name.
    for (const left of [a, b]) rmSync(left, { force: true });
    const tap = (device: string): string => `TUN,tun-type=tap,tun-name=${device},iff-no-pi`;
    endpoint.wire(plug.netns, tap(plug.tap), `UNIX-SENDTO:${b},bind=${a}`);
    endpoint.wire(netns, tap(nicName), `UNIX-SENDTO:${a},bind=${b}`);
    await eventually(`the card of ${name}`, () =>
      endpoint.in('ip', 'link', 'show', nicName).then(
        () => existsSync(a) && existsSync(b),
        () => false,
      ),
    );
    await endpoint.in('ip', 'link', 'set', nicName, 'address', plug.mac, 'mtu', String(plug.mtu), 'up');
    return endpoint;
  }

  /** Takes the address, routes and MTU that DHCP offers; null when no server answers. */
  async lease(tries = 5): Promise<Lease | null> {
    const options = ['staticroutes', 'mtu', 'router'].flatMap((option) => ['-O', option]);
    const limits = ['-n', '-q', '-f', '-t', String(tries), '-T', '1'];
    const script = join(__dirname, 'lease.sh');
    const out = await this.in('busybox', 'udhcpc', '-i', nicName, '-s', script, ...limits, ...options).catch(
      (error: { stdout?: string }) => error.stdout ?? '',
    );
    const [, address, mtu, gateway] = /LEASE (\S+) (\d+) (\S*)/.exec(out) ?? [];
    if (address === undefined) return null;
    this.address = address;
    this.gateway = gateway ?? '';
    return { address, mtu: Number(mtu), gateway: this.gateway };
  }

  /** Forgets which address is at which MAC, as a guest does after a while. */
  async forgetNeighbours(): Promise<void> {
    await this.in('ip', 'neigh', 'flush', 'dev', nicName);
  }

  private wire(netns: string | null, from: string, to: string): void {
    const where = netns === null ? [] : [`--net=/run/netns/${netns}`];
    this.children.push(spawn('nsenter', [...where, '--', 'socat', from, to], { stdio: 'ignore' }));
  }
}
