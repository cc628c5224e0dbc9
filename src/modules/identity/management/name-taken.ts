import { withArticle } from '../../../core/errors/article';
import { Problem } from '../../../core/errors/problem';

/** 409 `name_taken` for a field of the body. */
export const nameTaken = (noun: string, name: string): Problem => {
  const message = `There is already ${withArticle(noun)} "${name}".`;
  return new Problem({
    status: 409,
    code: 'name_taken',
    detail: message,
    errors: [{ path: 'body.name', code: 'name_taken', message }],
  });
};

/** True when a statement failed on this unique constraint. PostgreSQL's SQLSTATE 23505. */
export const violates = (error: unknown, constraint: string): boolean => {
  const driver = error as { code?: unknown; constraint?: unknown };
  return driver.code === '23505' && driver.constraint === constraint;
};
