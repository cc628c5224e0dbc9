/** A step of a failed task, as its error tells of it. */
export interface ErrorStep {
  name: string;
  title: string;
  /** Name of the host that it was for; null for steps inside management. */
  host: string | null;
  /** Why it could not be undone; null when there is nothing to say. */
  reason: string | null;
}

/** The facts that the text of an error is made of. */
export interface ErrorFacts {
  state: string;
  /** The root cause in words. */
  reason: string;
  /** Title of the step that failed; null when none did. */
  stepTitle: string | null;
  host: string | null;
  /** Of the step that failed. */
  attempts: number;
  undone: boolean;
  undoneSteps: readonly ErrorStep[];
  leftSteps: readonly ErrorStep[];
  hint: string | null;
}

export interface ErrorSentences {
  /** Which step failed, where and why. */
  what: string;
  undone: string | null;
  /** What was not undone. */
  left: string | null;
  /** What to do next. */
  next: string | null;
}

const sentence = (text: string): string => {
  const trimmed = text.trim();
  return trimmed === '' || /[.!?…]$/.test(trimmed) ? trimmed : `${trimmed}.`;
};
const quoted = (step: ErrorStep): string => `“${step.title}”`;
const listed = (steps: readonly ErrorStep[]): string => steps.map(quoted).join(', ');

const whatOf = (facts: ErrorFacts): string => {
  const at = facts.stepTitle === null ? null : `“${facts.stepTitle}”`;
  if (facts.state === 'cancelled' || facts.stepTitle === null) return sentence(facts.reason);
  const where = facts.host === null ? '' : ` on ${facts.host}`;
  const tries = facts.attempts > 1 ? ` after ${facts.attempts} attempts` : '';
  return `${at} failed${where}${tries}: ${sentence(facts.reason)}`;
};

const undoneOf = (facts: ErrorFacts): string | null => {
  if (facts.undoneSteps.length > 0) return `Undone: ${listed(facts.undoneSteps)}.`;
  if (facts.state === 'compensating') return 'It is being undone.';
  return facts.undone && facts.leftSteps.length === 0 ? 'Nothing had to be undone.' : null;
};

const leftOf = (facts: ErrorFacts): string | null => {
  const failed = facts.leftSteps
    .filter((step) => step.reason !== null)
    .map(
      (step) =>
        `${quoted(step)}${step.host === null ? '' : ` on ${step.host}`} (${(step.reason ?? '').trim().replace(/\.$/, '')})`,
    );
  const untouched = facts.leftSteps.filter((step) => step.reason === null);
  const parts = [
    failed.length > 0 ? `Could not be undone: ${failed.join(', ')}.` : '',
    untouched.length > 0
      ? `${facts.state === 'failed' ? 'Left as it was' : 'Not undone yet'}: ${listed(untouched)}.`
      : '',
  ];
  const text = parts.filter((part) => part !== '').join(' ');
  return text === '' ? null : text;
};

/** Tells a failure sentence by sentence; the same words everywhere. */
export const errorSentences = (facts: ErrorFacts): ErrorSentences => ({
  what: whatOf(facts),
  undone: undoneOf(facts),
  left: leftOf(facts),
  next: facts.hint === null ? null : sentence(facts.hint),
});

/** The whole story as one text. */
export const errorText = (facts: ErrorFacts): string => {
  const { what, undone, left, next } = errorSentences(facts);
  return [what, undone, left, next].filter((part) => part !== null && part !== '').join(' ');
};
