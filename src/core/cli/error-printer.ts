import { CliFailure, exitCodes } from './cli-failure';
import { plain } from './format';

const networkHints: Record<string, string> = {
  ECONNREFUSED: 'Nothing answers there. Is vc-stack running?',
  ENOTFOUND: 'This name cannot be resolved.',
  EAI_AGAIN: 'This name cannot be resolved at the moment.',
  ETIMEDOUT: 'The server did not answer in time.',
  ECONNRESET: 'The server cut the connection.',
  EHOSTUNREACH: 'There is no way to this host.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The server has a certificate for another name. Log in again with the name or address it is made for.',
  SELF_SIGNED_CERT_IN_CHAIN: 'The server has another certificate authority than at login. If that is right, log in again.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The server has another certificate than at login. If that is right, log in again.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'The server has another certificate authority than at login. If that is right, log in again.',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'The server has another certificate authority than at login. If that is right, log in again.',
  CERT_SIGNATURE_FAILURE: 'The server has another certificate authority than at login. If that is right, log in again.',
  CERT_HAS_EXPIRED: "The server's certificate has expired.",
};

/** The failure as lines for standard error: what, why (per field, per host), and the request's id. */
export const describeFailure = (error: unknown): { lines: string[]; exitCode: number } => {
  if (!(error instanceof CliFailure)) return describeOther(error);
  if (error.silent) return { lines: [], exitCode: error.exitCode };
  const lines = [`error: ${plain(error.message)} (${error.code})`];
  for (const field of error.errors) {
    if (error.errors.length > 1 || field.message !== error.message) lines.push(`  ${plain(field.path)}: ${plain(field.message)} (${field.code})`);
    else lines.push(`  field: ${plain(field.path)}`);
  }
  for (const host of error.hosts) lines.push(`  host ${plain(host.host)}: ${plain(host.reason)} (${host.code})`);
  if (error.hint) lines.push(`  ${plain(error.hint)}`);
  if (error.requestId) lines.push(`  request id: ${plain(error.requestId)}`);
  return { lines, exitCode: error.exitCode };
};

const describeOther = (error: unknown): { lines: string[]; exitCode: number } => {
  const first = error instanceof AggregateError && error.errors.length > 0 ? (error.errors[0] as unknown) : error;
  const code = (first as { code?: unknown } | null)?.code;
  const message = first instanceof Error ? first.message : String(first);
  const hint = typeof code === 'string' ? networkHints[code] : undefined;
  return { lines: [`error: ${plain(message)}`, ...(hint ? [`  ${hint}`] : [])], exitCode: exitCodes.failed };
};
