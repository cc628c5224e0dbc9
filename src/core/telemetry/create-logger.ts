import pino, { type DestinationStream, type Logger } from 'pino';
import type { Config } from '../config/config';

/** Member names that never reach a log, at the top or up to three levels down. */
const secretKeys = [
  'authorization',
  'Authorization',
  'cookie',
  'password',
  'current',
  'token',
  'tokenHash',
  'accessToken',
  'refreshToken',
  'secret',
  'userData',
  'user_data',
  'ticket',
  'privateKey',
  'connectionString',
];

/** Database errors carry the statement's parameters, which may be anything a user sent. */
const unloggable = new Set(['parameters', 'driverError', 'args', 'stdout']);

const serializeError = (error: unknown): unknown => {
  const plain: unknown = pino.stdSerializers.err(error as Error);
  if (typeof plain !== 'object' || plain === null) return plain;
  return Object.fromEntries(Object.entries(plain).filter(([key]) => !unloggable.has(key)));
};

/**
 * JSON lines on standard error (or `destination`), secrets replaced by `[redacted]`. Who logs for a request or a task
 * names it: `requestId`, `taskId`.
 */
export const createLogger = (
  config: Pick<Config, 'core'>,
  destination: DestinationStream = pino.destination({ dest: 2, sync: true }),
): Logger =>
  pino(
    {
      level: config.core.log.level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: secretKeys.flatMap((key) => [key, `*.${key}`, `*.*.${key}`, `*.*.*.${key}`]),
        censor: '[redacted]',
      },
      serializers: { err: serializeError, error: serializeError },
    },
    destination,
  );
