import { injectable } from 'inversify';

export type HealthStatus = 'healthy' | 'degraded' | 'unhealthy';

/** `message` is shown to anyone who asks: say what is wrong, not where. */
export interface HealthResult {
  status: HealthStatus;
  message?: string;
}

export interface HealthReport {
  status: HealthStatus;
  checks: Record<string, HealthResult>;
}

const rank: Record<HealthStatus, number> = { healthy: 0, degraded: 1, unhealthy: 2 };
const deadlineMs = 3_000;
/** The page is public: however often it is asked, checks run once per this time. */
const cacheMs = 1_000;

/** What `/health/deep` looks at. Modules and core services add theirs when they start. */
@injectable()
export class HealthChecks {
  private readonly checks = new Map<string, () => Promise<HealthResult>>();
  private last: { at: number; report: Promise<HealthReport> } | undefined;

  /** A check that throws, or takes over 3 s, counts as unhealthy. A second one of the same name replaces the first. */
  add(name: string, check: () => Promise<HealthResult>): void {
    this.checks.set(name, check);
    this.last = undefined;
  }

  /** All checks at once; the worst decides. */
  report(): Promise<HealthReport> {
    const now = performance.now();
    if (!this.last || now - this.last.at >= cacheMs) this.last = { at: now, report: this.run() };
    return this.last.report;
  }

  private async run(): Promise<HealthReport> {
    const entries = await Promise.all(
      [...this.checks].map(async ([name, check]) => [name, await this.bounded(check)] as const),
    );
    const status = entries.reduce<HealthStatus>(
      (worst, [, { status: s }]) => (rank[s] > rank[worst] ? s : worst),
      'healthy',
    );
    return { status, checks: Object.fromEntries(entries) };
  }

  private async bounded(check: () => Promise<HealthResult>): Promise<HealthResult> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<HealthResult>((resolve) => {
      timer = setTimeout(() => resolve({ status: 'unhealthy', message: 'no answer in time' }), deadlineMs);
    });
    try {
      return await Promise.race([check(), late]);
    } catch {
      return { status: 'unhealthy', message: 'the check failed' };
    } finally {
      clearTimeout(timer);
    }
  }
}
