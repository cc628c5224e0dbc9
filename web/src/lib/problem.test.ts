import { fieldErrors, problemOf } from './problem';

const refusal = {
  status: 422,
  code: 'unacceptable',
  title: 'Not acceptable',
  detail: 'body.name: too long (and 1 more).',
  requestId: 'r-1',
  errors: [
    { path: 'body.name', code: 'too_long', message: 'at most 63 characters' },
    { path: 'body.networks.0.address', code: 'invalid', message: 'not an address' },
    { path: 'body.networks.1.address', code: 'taken', message: 'in use' },
  ],
};

it('says what is wrong at the field that it is about, several things of one field together', () => {
  expect(fieldErrors(problemOf(422, refusal, null))).toEqual({
    name: 'at most 63 characters',
    networks: 'not an address; in use',
  });
});

it('says what is about one field only in the words of the refusal itself', () => {
  const taken = {
    code: 'name_taken',
    detail: 'There is a network "a" already.',
    errors: [{ path: 'body.name', code: 'name_taken', message: 'taken' }],
  };
  expect(fieldErrors(problemOf(409, taken, null))).toEqual({ name: 'There is a network "a" already.' });
});

it('makes an error of an answer that is no problem document, with the request id of its header', () => {
  const error = problemOf(503, null, 'from-header');
  expect([error.status, error.code, error.detail, error.requestId]).toEqual([
    503,
    'http_503',
    'The server could not do this (503).',
    'from-header',
  ]);
});

it('names the task that is at work', () => {
  expect(problemOf(409, { code: 'task_running', task: { id: 't-1' } }, null).taskId).toBe('t-1');
});
