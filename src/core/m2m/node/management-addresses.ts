import { injectable } from 'inversify';
import { Config } from '../../config/config';
import type { NodeEndpoint } from '../management/node-registry';

/** `host:port`, `[address]:port` or a host alone. */
export const parseAddress = (text: string, defaultPort: number): NodeEndpoint => {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(text) ?? [];
  return { address: bracketed ?? plain ?? text, port: port === undefined ? defaultPort : Number(port) };
};

/**
 * The addresses at which this host reaches management: those of `compute.management`, else the one that the enrolment
 * token named. One is in use until it does not answer; then the next one is, and so on in a circle.
 */
@injectable()
export class ManagementAddresses {
  private readonly configured: NodeEndpoint[];
  private index = 0;

  constructor(config: Config) {
    this.configured = config.core.compute.management.map((text) => parseAddress(text, config.core.management.nodePort));
  }

  /**
   * All of them, the one in use first. @param known where the enrolment token, or the stored identity, says that
   * management is
   */
  all(known: NodeEndpoint): NodeEndpoint[] {
    if (this.configured.length === 0) return [known];
    const at = this.index % this.configured.length;
    return [...this.configured.slice(at), ...this.configured.slice(0, at)];
  }

  /** The one in use did not answer: the next one is tried. Nothing when another one is in use by now. */
  failed(endpoint: NodeEndpoint): void {
    const current = this.configured[this.index % Math.max(1, this.configured.length)];
    if (current && current.address === endpoint.address && current.port === endpoint.port)
      this.index = (this.index + 1) % this.configured.length;
  }
}
