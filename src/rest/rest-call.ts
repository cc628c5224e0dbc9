import type { paths } from './rest-paths';

export type Method = 'get' | 'put' | 'post' | 'patch' | 'delete';

/** The paths that have an operation of this method. */
export type PathWith<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, object> ? P : never;
}[keyof paths];

type Operation<M extends Method, P> = P extends keyof paths ? (M extends keyof paths[P] ? paths[P][M] : never) : never;

/** The parameters in a path, by name. */
export type PathOf<M extends Method, P> =
  Operation<M, P> extends { parameters: { path: infer Path } } ? Path : undefined;

/** The members of the query, all optional. */
export type QueryOf<M extends Method, P> =
  Operation<M, P> extends { parameters: { query?: infer Query } } ? Exclude<Query, undefined> : never;

/** The body as JSON; never where there is none. */
export type BodyOf<M extends Method, P> =
  Operation<M, P> extends { requestBody?: infer Body }
    ? Exclude<Body, undefined> extends { content: { 'application/json': infer Json } }
      ? Json
      : never
    : never;

type JsonOf<Response> = Response extends { content: { 'application/json': infer Json } } ? Json : undefined;

/** What a success is answered with; undefined where that has no body. */
export type AnswerOf<M extends Method, P> =
  Operation<M, P> extends { responses: infer Responses } ? JsonOf<Responses[keyof Responses]> : never;

type NeedsBody<M extends Method, P> =
  Operation<M, P> extends { requestBody: { content: { 'application/json': unknown } } } ? true : false;

/** What a call takes beside its path: what the operation needs must be given, and nothing else can be. */
export type CallOf<M extends Method, P> = { query?: QueryOf<M, P> } & ([PathOf<M, P>] extends [undefined]
  ? { path?: undefined }
  : { path: PathOf<M, P> }) &
  (NeedsBody<M, P> extends true ? { body: BodyOf<M, P> } : { body?: BodyOf<M, P> });

/** The last argument of a call: it may be left out where nothing in it is needed. */
export type Init<M extends Method, P, More = unknown> =
  Record<string, never> extends CallOf<M, P> ? [init?: CallOf<M, P> & More] : [init: CallOf<M, P> & More];

/** A path of a collection: its answer is a page of a list. */
export type ListPath = {
  [P in PathWith<'get'>]: AnswerOf<'get', P> extends { items: unknown[]; next: string | null } ? P : never;
}[PathWith<'get'>];

/** What a list is asked with: of a collection that belongs to something, also to what. */
export type ListInit<P extends ListPath, More> = [PathOf<'get', P>] extends [undefined]
  ? [init?: { query?: QueryOf<'get', P> } & More]
  : [init: { path: PathOf<'get', P>; query?: QueryOf<'get', P> } & More];

/** What a collection is made of. */
export type ItemOf<P extends ListPath> = AnswerOf<'get', P> extends { items: (infer Item)[] } ? Item : never;
