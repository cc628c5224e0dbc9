import { z } from 'zod';
import { sqlState } from '../../db/sql-state';
import { NodeUnreachableError, NodeVerbError } from '../../m2m/management/node-caller';
import { Problem } from '../../errors/problem';
import type { StepError } from '../definition/step-error';
import { PermanentError } from '../definition/workflow-error';

export interface StepFailure extends StepError {
  /** Repeating cannot help: undo now. */
  permanent: boolean;
  /** It is unknown whether the node did anything. */
  unreachable: boolean;
}

/** NUL and lone surrogates are legal in JavaScript and refused by PostgreSQL. */
const cleanText = (text: string): string => text.replace(/\u0000|\p{Cs}/gu, '\ufffd');

/**
 * Data that can never be stored (22), a broken rule (23; a lost race for a unique key may be won later), wrong SQL
 * (42).
 */
const permanentSql = (state: string | undefined): boolean =>
  state !== undefined && state !== '23505' && /^(22|23|42)/.test(state);

const classify = (error: unknown): Omit<StepFailure, 'step'> => {
  const base = { host: null, hint: null, unreachable: false };
  if (error instanceof PermanentError)
    return {
      ...base,
      code: error.code,
      message: error.message,
      permanent: true,
      extra: error.extra,
      ...(error.detail !== undefined && { cause: error.detail }),
    };
  if (error instanceof Problem)
    return {
      ...base,
      code: error.code,
      message: error.message,
      permanent: error.status < 500,
      extra: error.extra,
      ...(typeof error.cause === 'string' && { cause: error.cause }),
    };
  if (error instanceof NodeVerbError) {
    return {
      ...base,
      code: error.code,
      message: error.message,
      permanent: error.permanent,
      host: error.hostId,
      extra: error.extra,
      ...(error.detail !== undefined && { cause: error.detail }),
    };
  }
  if (error instanceof NodeUnreachableError) {
    return {
      ...base,
      code: 'node_unreachable',
      message: 'The host cannot be reached.',
      cause: error.message,
      permanent: false,
      host: error.hostId,
      unreachable: true,
      hint: 'Check that the host is up and that its agent runs and reaches management.',
    };
  }
  const cause = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return {
    ...base,
    code: 'internal',
    message: 'An unexpected error; the log of management has the details under this task.',
    permanent: permanentSql(sqlState(error)) || error instanceof z.ZodError,
    cause,
  };
};

/** What a thrown value means for a step, and how it is told. */
export const describeFailure = (error: unknown, step: string | null): StepFailure => {
  const { extra, cause, ...rest } = classify(error);
  return {
    ...rest,
    step,
    message: cleanText(rest.message),
    ...(cause !== undefined && { cause: cleanText(cause).slice(0, 4000) }),
    ...(extra && Object.keys(extra).length > 0 && { extra }),
  };
};

/** The part that is stored. */
export const storedError = (failure: StepFailure): StepError => {
  const { permanent: _permanent, unreachable: _unreachable, ...stored } = failure;
  return stored;
};
