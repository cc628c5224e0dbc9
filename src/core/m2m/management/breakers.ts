import { injectable } from 'inversify';
import { Config } from '../../config/config';
import { CircuitBreaker, type BreakerState } from './circuit-breaker';

/** One circuit breaker per node, shared by all callers of this process. */
@injectable()
export class Breakers {
  private readonly byHost = new Map<string, CircuitBreaker>();
  /** Which process of a node was heard last. */
  private readonly boots = new Map<string, string>();

  constructor(private readonly config: Config) {}

  of(hostId: string): CircuitBreaker {
    let breaker = this.byHost.get(hostId);
    if (!breaker) {
      breaker = new CircuitBreaker(this.config.core.m2m.breakerFailures, this.config.core.m2m.breakerOpenMs);
      this.byHost.set(hostId, breaker);
    }
    return breaker;
  }

  state(hostId: string): BreakerState {
    return this.byHost.get(hostId)?.state ?? 'closed';
  }

  /** The node gave a sign of life by itself: let the next call through as a probe. */
  nudge(hostId: string): void {
    this.byHost.get(hostId)?.nudge();
  }

  /** The node told of itself. When it is a new process of it, what did not answer was the one before. */
  heard(hostId: string, boot: string): void {
    if (this.boots.get(hostId) === boot) return;
    this.boots.set(hostId, boot);
    this.nudge(hostId);
  }

  forget(hostId: string): void {
    this.boots.delete(hostId);
    this.byHost.delete(hostId);
  }
}
