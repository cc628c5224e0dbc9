import type { Command } from 'commander';
import { stringify } from 'yaml';
import { CliFailure, exitCodes } from '../cli-failure';
import { fieldLabel } from '../input/field-label';
import { plain } from './format';
import type { OutputFormat } from './output-format';

const networkHints: Record<string, string> = {
  ECONNREFUSED: 'Nothing answers there. Is vc-stack running?',
  ENOTFOUND: 'This name cannot be resolved.',
  EAI_AGAIN: 'This name cannot be resolved at the moment.',
  ETIMEDOUT: 'The server did not answer in time.',
  ECONNRESET: 'The server cut the connection.',
  EHOSTUNREACH: 'There is no way to this host.',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'The server has a certificate for another name. Log in again with the name or address it is made for.',
  SELF_SIGNED_CERT_IN_CHAIN:
    'The server has another certificate authority than at login. If that is right, log in again.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The server has another certificate than at login. If that is right, log in again.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'The server has another certificate authority than at login. If that is right, log in again.',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'The server has another certificate authority than at login. If that is right, log in again.',
  CERT_SIGNATURE_FAILURE: 'The server has another certificate authority than at login. If that is right, log in again.',
  CERT_HAS_EXPIRED: "The server's certificate has expired.",
};

/** What the file system says, in words. */
const fileWords: Record<string, string> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOENT: 'there is no such file or folder',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of the path is no folder',
  EIO: 'the disk reports an error',
  EMFILE: 'too many files are open',
};

export interface FailureContext {
  /** The command that failed: fields are called as its options are. */
  command?: Command;
  /** The object that it is about, of several. */
  ref?: string;
}

/** The failure as lines for standard error: what, why (per field, per host), and the request's id. */
export const describeFailure = (
  error: unknown,
  context: FailureContext = {},
): { lines: string[]; exitCode: number } => {
  if (!(error instanceof CliFailure)) return describeOther(error);
  if (error.silent) return { lines: [], exitCode: error.exitCode };
  const about = context.ref === undefined ? '' : `${plain(context.ref)}: `;
  const fields = error.errors.map((field) => ({
    label: plain(fieldLabel(field.path, context.command)),
    code: field.code,
    message: plain(field.message),
  }));
  const [first] = fields;
  // Where the sentence only repeats the first field's complaint, the fields say it all, in the words of the command
  // line.
  const repeats = first !== undefined && error.message.startsWith(`${error.errors[0]?.path ?? ''}:`);
  const lines = repeats
    ? [`error: ${about}${first.label}: ${first.message} (${first.code})`]
    : [`error: ${about}${plain(error.message)} (${error.code})`];
  for (const field of repeats ? fields.slice(1) : fields) {
    if (field.message === error.message) lines.push(`  field: ${field.label}`);
    // `name_taken` and its like: the sentence says all of it.
    else if (fields.length > 1 || field.code !== error.code)
      lines.push(`  ${field.label}: ${field.message} (${field.code})`);
  }
  for (const host of error.hosts) lines.push(`  host ${plain(host.host)}: ${plain(host.reason)} (${host.code})`);
  if (error.hint) lines.push(`  ${plain(error.hint)}`);
  if (error.requestId) lines.push(`  request id: ${plain(error.requestId)}`);
  return { lines, exitCode: error.exitCode };
};

const rootOf = (error: unknown): { code: string | undefined; message: string; path: string | undefined } => {
  const first = error instanceof AggregateError && error.errors.length > 0 ? (error.errors[0] as unknown) : error;
  const { code, path } = (first ?? {}) as { code?: unknown; path?: unknown };
  return {
    code: typeof code === 'string' ? code : undefined,
    path: typeof path === 'string' ? path : undefined,
    message: first instanceof Error ? first.message : String(first),
  };
};

const describeOther = (error: unknown): { lines: string[]; exitCode: number } => {
  const { code, message, path } = rootOf(error);
  const file = code === undefined ? undefined : fileWords[code];
  if (file !== undefined)
    return {
      lines: [`error: ${path === undefined ? '' : `${plain(path)}: `}${file} (${code ?? ''})`],
      exitCode: exitCodes.failed,
    };
  const hint = code === undefined ? undefined : networkHints[code];
  return { lines: [`error: ${plain(message)}`, ...(hint ? [`  ${hint}`] : [])], exitCode: exitCodes.failed };
};

/** The failure for programs: the server's problem document as it came, or one of the same shape. */
export const failureDocument = (error: unknown): Record<string, unknown> => {
  if (error instanceof CliFailure) {
    if (error.problem) return error.problem;
    return {
      type: `urn:vc-stack:problem:${error.code}`,
      code: error.code,
      detail: error.message,
      ...(error.requestId !== undefined && { requestId: error.requestId }),
      ...(error.errors.length > 0 && { errors: error.errors }),
      ...(error.hint !== undefined && { hint: error.hint }),
    };
  }
  const { code, message, path } = rootOf(error);
  const known = code === undefined ? undefined : (fileWords[code] ?? networkHints[code]);
  return {
    type: 'urn:vc-stack:problem:client',
    code: code?.toLowerCase() ?? 'client_error',
    detail: message,
    ...(path !== undefined && { path }),
    ...(known !== undefined && { hint: known }),
  };
};

/**
 * Prints a failure on standard error, for people or as one document per line (JSON) or part (YAML), and returns the
 * exit code.
 */
export const printFailure = (error: unknown, format: OutputFormat, context: FailureContext = {}): number => {
  const { lines, exitCode } = describeFailure(error, context);
  const silent = error instanceof CliFailure && error.silent;
  if (silent) return exitCode;
  if (format.kind === 'json' || format.kind === 'yaml') {
    const document = { ...failureDocument(error), ...(context.ref !== undefined && { reference: context.ref }) };
    process.stderr.write(format.kind === 'json' ? `${JSON.stringify(document)}\n` : `---\n${stringify(document)}`);
  } else for (const line of lines) process.stderr.write(`${line}\n`);
  return exitCode;
};
