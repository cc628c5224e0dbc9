import { injectable } from 'inversify';
import { Counter, Gauge } from 'prom-client';
import type { Metrics } from './metrics';

/** A metric that a module declares: what it counts (`counter`) or how much there is (`gauge`). */
interface MetricForm {
  kind: 'counter' | 'gauge';
  help: string;
  /** Each with few values that the product knows: never a name or an id of a user's thing. */
  labels?: readonly string[];
}

/** By name: `vcstack_<what>_<unit>`, counters with `_total` at the end. */
export type MetricTable = Readonly<Record<string, MetricForm>>;

interface Sample {
  labels: Readonly<Record<string, string>>;
  value: number;
}

/** The metrics that modules declare in their manifests, on `/metrics`. */
@injectable()
export class DeclaredMetrics {
  private readonly counters = new Map<string, Counter>();
  private readonly gauges = new Set<string>();
  private readonly collectors = new Map<string, () => Promise<readonly Sample[]>>();

  constructor(metrics: Metrics, table: MetricTable) {
    const { collectors } = this;
    for (const [name, { kind, help, labels = [] }] of Object.entries(table)) {
      const common = { name, help, labelNames: [...labels], registers: [metrics.registry] };
      if (kind === 'counter') this.counters.set(name, new Counter(common));
      else {
        this.gauges.add(name);
        new Gauge({
          ...common,
          async collect(): Promise<void> {
            const samples = await collectors.get(name)?.();
            this.reset();
            for (const { labels: of, value } of samples ?? []) this.set(of, value);
          },
        });
      }
    }
  }

  /** Adds to a counter. Throws when no module declares it. */
  count(name: string, labels: Readonly<Record<string, string>> = {}, by = 1): void {
    const counter = this.counters.get(name);
    if (!counter) throw new Error(`no module declares the counter "${name}"`);
    counter.inc({ ...labels }, by);
  }

  /** Says who tells what a gauge shows, at each look of whoever reads the metrics. */
  collect(name: string, tell: () => Promise<readonly Sample[]>): void {
    if (!this.gauges.has(name)) throw new Error(`no module declares the gauge "${name}"`);
    if (this.collectors.has(name)) throw new Error(`the gauge "${name}" is told twice`);
    this.collectors.set(name, tell);
  }
}
