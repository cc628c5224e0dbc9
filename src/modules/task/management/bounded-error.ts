import type { ErrorStep } from '../contract/task-error';
import type { TaskError } from '../contract/task.api';

/** Characters of each text, and steps of each list: an error takes less than 30,000 characters however much a host said. */
const messageLength = 4_000;
const textLength = 1_000;
const reasonLength = 200;
const stepsListed = 20;

const cut = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`;
const cutSteps = (steps: readonly ErrorStep[]): ErrorStep[] =>
  steps
    .slice(0, stepsListed)
    .map((step) => ({ ...step, reason: step.reason === null ? null : cut(step.reason, reasonLength) }));

/** The error as it goes with an event, which all who watch are sent: long texts end early. */
export const boundedError = (error: TaskError): TaskError => ({
  ...error,
  message: cut(error.message, messageLength),
  reason: cut(error.reason, textLength),
  hint: error.hint === null ? null : cut(error.hint, textLength),
  undoneSteps: cutSteps(error.undoneSteps),
  leftSteps: cutSteps(error.leftSteps),
});
