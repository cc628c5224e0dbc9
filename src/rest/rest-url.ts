import type { Method, PathWith, QueryOf } from './rest-call';

type Segments<Path extends string> = Path extends `${infer First}/${infer Rest}` ? [First, ...Segments<Rest>] : [Path];

type PathPart<Target extends string> = Target extends `${infer Path}?${string}` ? Path : Target;
type QueryPart<Target extends string> = Target extends `${string}?${infer Query}` ? Query : '';

/** A word of the document takes only itself, a parameter takes anything. */
type SegmentFits<Given, Wanted> = Wanted extends `{${string}}` ? true : Given extends Wanted ? true : false;

type SegmentsFit<Given, Wanted> = Given extends [infer G, ...infer GivenRest]
  ? Wanted extends [infer W, ...infer WantedRest]
    ? SegmentFits<G, W> extends true
      ? SegmentsFit<GivenRest, WantedRest>
      : false
    : false
  : Wanted extends []
    ? true
    : false;

type Fitting<Given, P> = P extends string ? (SegmentsFit<Given, Segments<P>> extends true ? P : never) : never;

/**
 * The path of the document that a written one is of: `/instances/{ref}` of `/instances/${id}?q=a`; never when there is
 * none with this method. A path without parameters goes before one with.
 */
export type PathAt<M extends Method, Target extends string> =
  PathPart<Target> extends infer Given extends string
    ? Given extends PathWith<M>
      ? Given
      : Fitting<Segments<Given>, PathWith<M>>
    : never;

type ValueFits<Value extends string, Wanted> = [Wanted] extends [never]
  ? false
  : Value extends `${Extract<Wanted, string | number | boolean>}`
    ? true
    : false;

/** Whether each member of a written query is one of the document's, with a value that its type has. */
type QueryFits<Query extends string, Wanted> = string extends Query
  ? true
  : Query extends ''
    ? true
    : Query extends `${infer First}&${infer Rest}`
      ? QueryFits<First, Wanted> extends true
        ? QueryFits<Rest, Wanted>
        : false
      : Query extends `${infer Name}=${infer Value}`
        ? Name extends keyof Wanted
          ? ValueFits<Value, Exclude<Wanted[Name], undefined>>
          : false
        : false;

interface NoSuchPath {
  'no such method and path in the OpenAPI document': true;
}
interface NoSuchQuery {
  'no such query in the OpenAPI document': true;
}

/**
 * A written path with its query where both are of the document: what a call takes. A query that is put together
 * elsewhere (`?${query}`) is not looked at.
 */
export type TargetOf<M extends Method, Target extends string> = Target extends string
  ? [PathAt<M, Target>] extends [never]
    ? NoSuchPath
    : QueryFits<QueryPart<Target>, QueryOf<M, PathAt<M, Target>>> extends true
      ? Target
      : NoSuchQuery
  : never;
