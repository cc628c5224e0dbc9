import type { AnswerOf, Method } from './rest-call';
import type { PathAt, TargetOf } from './rest-url';

/** As a client that takes written paths. What is refused below is refused by the compiler: `typecheck` is this test. */
const asked = <M extends Method, const T extends string>(_method: M, target: T & TargetOf<M, T>): T => target;
const answered = <M extends Method, const T extends string>(
  _method: M,
  _target: T & TargetOf<M, T>,
  answer: AnswerOf<M, PathAt<M, T>>,
): AnswerOf<M, PathAt<M, T>> => answer;

const id = '0f8b2c1e-0000-4000-8000-000000000000' as string;
const verb = 'start' as 'start' | 'stop';
const noun = 'anything' as string;

it('takes the paths and queries of the document', () => {
  expect([
    asked('get', '/instances'),
    asked('get', `/instances/${id}`),
    asked('get', '/instances?project=default&limit=100'),
    asked('get', `/tasks/${id}?wait=20s`),
    asked('get', `/tasks?${noun}`),
    asked('post', '/instances/check'),
    asked('post', `/instances/${id}/actions/${verb}`),
    asked('delete', `/projects/${id}/members/${noun}`),
  ]).toHaveLength(8);
});

it('refuses a path, a method and a query that the document does not have', () => {
  expect([
    // @ts-expect-error no such noun
    asked('get', '/instanses'),
    // @ts-expect-error no such path below it
    asked('get', `/instances/${id}/nothing`),
    // @ts-expect-error what a parameter in the place of a word is, is not known
    asked('post', `/instances/${id}/actions/${noun}`),
    // @ts-expect-error no such noun that is known only later
    asked('get', `/${noun}`),
    // @ts-expect-error no such method
    asked('put', `/instances/${id}`),
    // @ts-expect-error no such member of the query
    asked('get', '/instances?lim=3'),
    // @ts-expect-error a value that its type does not have
    asked('get', '/instances?limit=many'),
    // @ts-expect-error the second of two
    asked('get', '/instances?limit=3&nothing=4'),
    // @ts-expect-error no query where the path has none
    asked('get', `/flavors/${id}?project=default`),
  ]).toHaveLength(9);
});

it('knows what each path answers, one without parameters before one with', () => {
  expect(answered('get', '/events/position', { seq: 7 }).seq).toBe(7);
  // @ts-expect-error no such field of the answer
  expect(answered('get', '/events/position', { seq: 7 }).position).toBeUndefined();
});
