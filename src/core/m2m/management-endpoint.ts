import { injectable } from 'inversify';
import { Config } from '../config/config';
import { reachableAddress } from './ca/own-addresses';

/**
 * Where nodes reach this management process. The port is the bound one, which differs from the configured one when that
 * is 0.
 */
@injectable()
export class ManagementEndpoint {
  private boundPort: number | undefined;

  constructor(private readonly config: Config) {}

  get address(): string {
    return reachableAddress(this.config.core.management.address);
  }

  get nodePort(): number {
    return this.boundPort ?? this.config.core.management.nodePort;
  }

  bound(port: number): void {
    this.boundPort = port;
  }
}
