import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { Histogram } from 'prom-client';
import { Logging } from '../../telemetry/logging';
import { Metrics } from '../../telemetry/metrics';

/** What is known of a request while it is answered. */
export interface Observed {
  readonly requestId: string;
  /** Of the API, once it is found: its path with parameters. */
  route: string | undefined;
}

/** Request ids, request log and duration metrics. */
@injectable()
export class RequestObserver {
  private readonly log: Logger;
  private readonly duration: Histogram<'route' | 'method' | 'status'>;

  constructor(logging: Logging, metrics: Metrics) {
    this.log = logging.for('http');
    this.duration = new Histogram({
      name: 'http_request_duration_seconds',
      help: 'Time from a request to the end of its answer, in seconds',
      labelNames: ['route', 'method', 'status'],
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers: [metrics.registry],
    });
  }

  /**
   * Takes the caller's `X-Request-Id` when it is harmless, else makes one; echoes it. Paths are logged without their
   * query, which may hold tickets.
   */
  observe(req: IncomingMessage, res: ServerResponse): Observed {
    const given = req.headers['x-request-id'];
    const requestId = typeof given === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : randomUUID();
    const observed: Observed = { requestId, route: undefined };
    const started = performance.now();
    res.setHeader('x-request-id', requestId);
    res.once('close', () => this.ended(req, res, observed, performance.now() - started));
    return observed;
  }

  private ended(req: IncomingMessage, res: ServerResponse, { requestId, route }: Observed, ms: number): void {
    // Only known routes become label values, so that their number is bounded.
    const { method = '' } = req;
    const labels = route === undefined ? { route: 'other', method: 'ANY' } : { route, method };
    this.duration.observe({ ...labels, status: String(res.statusCode) }, ms / 1000);
    this.log[route === undefined ? 'debug' : 'info'](
      {
        requestId,
        method,
        path: pathOf(req),
        status: res.statusCode,
        ms: Math.round(ms),
        ...(!res.writableFinished && { aborted: true }),
      },
      'request',
    );
  }
}

const pathOf = ({ url = '' }: IncomingMessage): string => (url.split('?', 1)[0] ?? '').slice(0, 300);
