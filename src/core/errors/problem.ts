import { withArticle } from './article';
/** One field that was refused: `path` is the dotted path in body, query or params (`body.networks.0.id`). */
export interface FieldError {
  path: string;
  code: string;
  message: string;
}

export interface ProblemInit {
  /** HTTP status, 400 to 599. */
  status: number;
  /** Stable machine code in snake_case, e.g. `no_free_address`. Clients branch on this and never on the text. */
  code: string;
  /** A sentence for the user: what is wrong and what to do. No internals. */
  detail: string;
  errors?: FieldError[];
  /** Further members of the problem document, e.g. `task` of a conflict or `hosts` of a placement refusal. */
  extra?: Record<string, unknown>;
  cause?: unknown;
}

/** Every refusal that a user may see. Rendered as an RFC 9457 problem document by `core/http`. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly errors: FieldError[];
  readonly extra: Record<string, unknown>;

  constructor(init: ProblemInit) {
    super(init.detail, init.cause === undefined ? undefined : { cause: init.cause });
    this.name = 'Problem';
    this.status = init.status;
    this.code = init.code;
    this.errors = init.errors ?? [];
    this.extra = init.extra ?? {};
  }

  get detail(): string {
    return this.message;
  }
}

/** 404 `not_found`. Also the answer for objects of projects that the caller cannot see. */
export const notFound = (noun: string, ref: string): Problem =>
  new Problem({
    status: 404,
    code: 'not_found',
    detail: `There is no ${noun} "${ref.slice(0, 100)}".`,
    extra: { noun },
  });

/** 409: well formed, but the present state forbids it. */
export const conflict = (code: string, detail: string, extra?: Record<string, unknown>): Problem =>
  new Problem({ status: 409, code, detail, extra });

/** 422: well formed, but not acceptable. `path` is the field's dotted path. */
export const unprocessable = (path: string, code: string, message: string): Problem =>
  new Problem({ status: 422, code, detail: message, errors: [{ path, code, message }] });

/** 403 `forbidden`: the caller sees the object but lacks the permission. */
export const forbidden = (permission: string): Problem =>
  new Problem({
    status: 403,
    code: 'forbidden',
    detail: `This needs the permission ${permission}.`,
    extra: { permission },
  });

/** 409 `name_taken`: names are unique among their kind (in a project, for what projects own). */
export const nameTaken = (noun: string, name: string): Problem =>
  new Problem({
    status: 409,
    code: 'name_taken',
    detail: `There is ${withArticle(noun)} named "${name}" already.`,
    errors: [{ path: 'body.name', code: 'name_taken', message: 'taken' }],
  });

/** The same for a name that was lost to another one at the same moment, so that only the database knows. */
export const nameIsTaken = (): Problem =>
  new Problem({
    status: 409,
    code: 'name_taken',
    detail: 'The name was taken a moment ago. Choose another one.',
    errors: [{ path: 'body.name', code: 'name_taken', message: 'taken' }],
  });

/** 409 `ambiguous_name`: a name that means several objects in the projects that the caller sees. */
export const ambiguousName = (noun: string, name: string): Problem =>
  conflict(
    'ambiguous_name',
    `Several projects have ${withArticle(noun)} named "${name}". Name the project with ?project=, or use the id.`,
  );

/** 503 `database_unavailable`: it went away, or cannot be reached. */
export const databaseUnavailable = (): Problem =>
  new Problem({
    status: 503,
    code: 'database_unavailable',
    detail: 'The database cannot be reached at the moment. Try again.',
    extra: { retryAfterSeconds: 2 },
  });
