import { errorText, type ErrorFacts } from './task-error';

const step = (title: string, reason: string | null = null, host: string | null = null) => ({
  name: title,
  title,
  host,
  reason,
});
const facts: ErrorFacts = {
  state: 'failed',
  reason: 'The pool is full',
  stepTitle: 'Make the disk',
  host: 'h1',
  attempts: 1,
  undone: true,
  undoneSteps: [],
  leftSteps: [],
  hint: null,
};

describe('errorText', () => {
  it.each<[string, Partial<ErrorFacts>, string]>([
    [
      'a failure, undone',
      { undoneSteps: [step('Make the disk'), step('Claim a host')], hint: 'Make room' },
      '“Make the disk” failed on h1: The pool is full. Undone: “Make the disk”, “Claim a host”. Make room.',
    ],
    [
      'the number of attempts',
      { attempts: 4 },
      '“Make the disk” failed on h1 after 4 attempts: The pool is full. Nothing had to be undone.',
    ],
    ['a step inside management', { host: null }, '“Make the disk” failed: The pool is full. Nothing had to be undone.'],
    ['a failure without a step', { stepTitle: null }, 'The pool is full. Nothing had to be undone.'],
    [
      'a stuck task',
      {
        state: 'stuck',
        undone: false,
        undoneSteps: [step('C')],
        leftSteps: [step('B', 'no answer.', 'h2'), step('A')],
      },
      '“Make the disk” failed on h1: The pool is full. Undone: “C”. Could not be undone: “B” on h2 (no answer). Not undone yet: “A”.',
    ],
    [
      'an abandoned task',
      { undone: false, leftSteps: [step('A')] },
      '“Make the disk” failed on h1: The pool is full. Left as it was: “A”.',
    ],
    [
      'one that is being undone',
      { state: 'compensating', undone: false },
      '“Make the disk” failed on h1: The pool is full. It is being undone.',
    ],
    [
      'a cancelled task',
      { state: 'cancelled', reason: 'The task was cancelled.', undoneSteps: [step('A')] },
      'The task was cancelled. Undone: “A”.',
    ],
  ])('tells of %s', (_name, given, text) => {
    expect(errorText({ ...facts, ...given })).toBe(text);
  });
});
