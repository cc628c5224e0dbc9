import type { Duration } from '../../definition/definition';
import { PermanentError } from '../../definition/workflow-error';

/** A step's own time, or its task's, is over. */
export const stepTimedOut = (timeout: Duration | undefined): PermanentError =>
  new PermanentError(
    'step_timeout',
    timeout ? `The step did not end within ${timeout}.` : 'The step did not end within the time of its task.',
  );
