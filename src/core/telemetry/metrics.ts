import { injectable } from 'inversify';
import { Registry } from 'prom-client';

/**
 * The process's own metric registry; one per application, so that several applications live in one process (tests,
 * benchmarks).
 */
@injectable()
export class Metrics {
  readonly registry = new Registry();
}
