import { randomUUID } from 'node:crypto';
import type { RequestHandler } from 'express';
import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { Histogram } from 'prom-client';
import { Logging } from '../../telemetry/logging';
import { Metrics } from '../../telemetry/metrics';

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
  handler(): RequestHandler {
    return (req, res, next) => {
      const given = req.headers['x-request-id'];
      const requestId = typeof given === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : randomUUID();
      const path = req.path.slice(0, 300);
      const { method } = req;
      const started = process.hrtime.bigint();
      res.locals['requestId'] = requestId;
      res.setHeader('x-request-id', requestId);
      res.once('close', () => {
        const seconds = Number(process.hrtime.bigint() - started) / 1e9;
        const route: unknown = res.locals['route'];
        // Only known routes become label values, so that their number is bounded.
        const label = typeof route === 'string' ? route : 'other';
        this.duration.observe(
          { route: label, method: label === 'other' ? 'ANY' : method, status: String(res.statusCode) },
          seconds,
        );
        this.log[label === 'other' ? 'debug' : 'info'](
          {
            requestId,
            method,
            path,
            status: res.statusCode,
            ms: Math.round(seconds * 1000),
            ...(!res.writableFinished && { aborted: true }),
          },
          'request',
        );
      });
      next();
    };
  }
}
