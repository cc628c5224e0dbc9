import { injectable } from 'inversify';
import type { Logger } from 'pino';

/** Source of loggers. JSON lines on standard error; secrets are redacted by path. */
@injectable()
export class Logging {
  constructor(readonly root: Logger) {}

  for(component: string): Logger {
    return this.root.child({ component });
  }
}
