import { lookup } from 'node:dns/promises';
import { isIPv4 } from 'node:net';
import { injectable } from 'inversify';
import { z } from 'zod';
import { Config } from '../../../core/config/config';
import { exec } from '../../../core/host/processes/exec';
import { ManagementAddresses } from '../../../core/m2m/node/management-addresses';
import { NodeIdentity } from '../../../core/m2m/node/node-identity';
import { contains, parseIpv4, parseSubnet } from '../contract/ipv4';
import type { NetworkConfig } from '../contract/network.config';
import type { ObservedNetwork } from '../contract/network.observed';

type Underlay = ObservedNetwork['underlay'];

/** Milliseconds for which an answer counts. */
const freshMs = 10_000;
/** Looks in vain before what was found last counts no longer: a link that flaps must not take networks apart. */
const missesBefore = 3;
/** What a host claims that touches nothing. */
const simulatedMtu = 1500;

const loopback = parseSubnet('127.0.0.0/8');
const isLoopback = (address: string): boolean => contains(loopback, parseIpv4(address));

const routes = z.array(z.object({ prefsrc: z.string().optional(), dst: z.string().optional() }));
const links = z.array(
  z.object({ mtu: z.number().optional(), addr_info: z.array(z.object({ local: z.string().optional() })).default([]) }),
);

/** Finds out where other hosts reach this one. */
@injectable()
export class UnderlayProbe {
  private known: { underlay: Underlay; at: number } | undefined;
  private misses = 0;

  constructor(
    private readonly identity: NodeIdentity,
    private readonly addresses: ManagementAddresses,
    private readonly config: Config,
  ) {}

  /** A few seconds old at most. Null: nowhere. Undefined: networks of this host do not cross to others. */
  async current(): Promise<Underlay> {
    if (!this.known || performance.now() - this.known.at >= freshMs) {
      const found = await this.look().catch(() => null);
      this.misses = found === null ? this.misses + 1 : 0;
      const underlay = found === null && this.misses < missesBefore ? (this.known?.underlay ?? null) : found;
      this.known = { underlay, at: performance.now() };
    }
    return this.known.underlay;
  }

  private async look(): Promise<Underlay> {
    const { driver, underlayAddress } = this.config.section<NetworkConfig>('network');
    if (driver === 'simulated')
      return underlayAddress === '' ? undefined : { address: underlayAddress, mtu: simulatedMtu };
    const address = underlayAddress === '' ? await this.ownAddress() : underlayAddress;
    if (address === null) return null;
    const mtu = await mtuAt(address);
    return mtu === null ? null : { address, mtu };
  }

  /** From which it reaches management; from which it reaches anything, where that is on this very host. */
  private async ownAddress(): Promise<string | null> {
    const [endpoint] = this.addresses.all(this.identity.current().management);
    const management = endpoint?.address ?? '';
    const target = isIPv4(management) ? management : (await lookup(management, { family: 4 })).address;
    const source = isLoopback(target) ? await sourceOf('default') : await sourceTowards(target);
    return source === null || isLoopback(source) ? null : source;
  }
}

const ip = async (...args: string[]): Promise<unknown> =>
  JSON.parse((await exec('ip', ['-4', '-j', ...args])).stdout || '[]');

const sourceTowards = async (target: string): Promise<string | null> =>
  routes.parse(await ip('route', 'get', target))[0]?.prefsrc ?? null;

/** The address that packets through the default route have. Any address behind it does, none is contacted. */
const sourceOf = async (dst: string): Promise<string | null> =>
  routes.parse(await ip('route', 'show', dst)).length > 0 ? sourceTowards('198.51.100.1') : null;

/** Null when no link has the address. */
const mtuAt = async (address: string): Promise<number | null> =>
  links.parse(await ip('addr', 'show')).find((link) => link.addr_info.some(({ local }) => local === address))?.mtu ??
  null;
