import { readFile } from 'node:fs/promises';
import { keepTokens, type SessionTokens } from './api-session';
import { CliFailure, exitCodes, usageFailure } from '../cli-failure';
import type { Profile } from './profile-store';
import { ask, confirm, requireTerminal } from '../input/prompt';
import { RestClient } from './rest-client';
import { inspectServer, normaliseFingerprint, readableFingerprint, trustIn } from './server-trust';
import type { TerminalContext } from '../terminal-context';

export interface LoginRequest {
  caFile?: string;
  fingerprint?: string;
  user?: string;
  passwordStdin?: boolean;
  tokenStdin?: boolean;
}

interface Who {
  user: { name: string };
  projects: { id: string; name: string; role: string }[];
}

/**
 * Logs in and stores the profile as the current one. Nothing is stored, and no secret sent, before the server's
 * certificate is trusted.
 */
export const login = async (context: TerminalContext, address: string, request: LoginRequest): Promise<Profile> => {
  if (request.caFile !== undefined && request.fingerprint !== undefined)
    throw usageFailure('--ca-file and --fingerprint exclude each other');
  if (request.passwordStdin && request.tokenStdin)
    throw usageFailure('--password-stdin and --token-stdin exclude each other');
  const url = normaliseUrl(address);
  const known = (await context.store.load()).profiles;
  const name =
    context.profileName() ?? known.find((p) => p.url === url)?.name ?? new URL(url).hostname.replace(/^\[|\]$/g, '');
  const before = known.find((p) => p.name === name && p.url === url);
  const trust = await decideTrust(url, request, before);
  const client = new RestClient({ url, ...trust });
  try {
    const profile: Profile = { name, url, ...trust };
    if (request.tokenStdin) {
      profile.apiToken = await context.stdinLine();
      if (profile.apiToken === '') throw usageFailure('standard input is empty');
    } else {
      const user = request.user ?? (await askUser());
      const password = request.passwordStdin ? await context.stdinLine() : await askPassword();
      keepTokens(
        profile,
        await client.call<SessionTokens>({ method: 'POST', path: '/login', body: { name: user, password } }),
      );
    }
    const who = await client.call<Who>({
      method: 'GET',
      path: '/whoami',
      bearer: profile.apiToken ?? profile.accessToken,
    });
    profile.user = who.user.name;
    const project = context.explicitProject() ?? defaultProject(who, before?.project);
    if (project !== undefined) {
      if (!who.projects.some((p) => p.name === project || p.id === project))
        throw new CliFailure(`There is no project "${project}".`, { exitCode: exitCodes.notFound, code: 'not_found' });
      profile.project = project;
    }
    await context.store.update((file) => {
      file.profiles = [...file.profiles.filter((p) => p.name !== name), profile];
      file.current = name;
    });
    return profile;
  } finally {
    client.close();
  }
};

/** `host:8443`, `https://host:8443/` → `https://host:8443`. Throws a usage failure for anything else. */
export const normaliseUrl = (address: string): string => {
  const text = address.includes('://') ? address : `https://${address}`;
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw usageFailure(`"${address}" is not an address like https://10.0.0.1:8443`);
  }
  if (url.protocol !== 'https:')
    throw usageFailure('the address must begin with https://: passwords are not sent in the clear');
  if (url.pathname !== '/' || url.search || url.hash || url.username)
    throw usageFailure(`"${address}" must hold a host and a port only`);
  return url.origin;
};

const decideTrust = async (
  url: string,
  request: LoginRequest,
  before: Profile | undefined,
): Promise<Pick<Profile, 'ca' | 'pinned'>> => {
  if (request.caFile !== undefined) return { ca: await readCa(request.caFile) };
  const { chain, trusted } = await inspectServer(url);
  const top = chain.at(-1);
  if (!top)
    throw new CliFailure(`${url} shows no certificate.`, { exitCode: exitCodes.failed, code: 'no_certificate' });
  if (request.fingerprint !== undefined) {
    const wanted = normaliseFingerprint(request.fingerprint);
    if (wanted === undefined) throw usageFailure('--fingerprint: not a SHA-256 fingerprint (64 hex digits)');
    const found = chain.find((c) => c.fingerprint === wanted);
    if (!found)
      throw new CliFailure(
        `No certificate of ${url} has this fingerprint; it shows ${readableFingerprint(top.fingerprint)}.`,
        { exitCode: exitCodes.failed, code: 'wrong_fingerprint' },
      );
    return trustIn(chain, found);
  }
  if (trusted) return {};
  // A profile that was trusted before stays so without a question; a changed authority then fails in the handshake or
  // is asked about here.
  if (before?.ca !== undefined && chain.some((c) => sameCertificate(c.pem, before.ca ?? '')))
    return { ca: before.ca, ...(before.pinned && { pinned: true }) };
  const changed =
    before?.ca !== undefined ? ` This is NOT the one that the profile "${before.name}" trusted until now.` : '';
  requireTerminal(`Name the certificate with --fingerprint ${top.fingerprint} (if that is right) or --ca-file.`);
  const what = top.root && chain.length > 1 ? 'authority' : 'certificate';
  process.stderr.write(
    `The ${what} of ${url} is not known to this system.${changed}\n  name: ${top.subject}\n  SHA-256: ${readableFingerprint(top.fingerprint)}\n`,
  );
  if (!(await confirm('Trust it from now on?')))
    throw new CliFailure('The certificate was not confirmed.', { exitCode: exitCodes.failed, code: 'not_trusted' });
  return trustIn(chain, top);
};

const sameCertificate = (one: string, other: string): boolean => one.replace(/\s/g, '') === other.replace(/\s/g, '');

const readCa = async (file: string): Promise<string> => {
  const pem = await readFile(file, 'utf8').catch((error: Error) => {
    throw usageFailure(`--ca-file: ${error.message}`);
  });
  if (!pem.includes('-----BEGIN CERTIFICATE-----'))
    throw usageFailure(`--ca-file: ${file} holds no certificate in PEM form`);
  return pem;
};

const askUser = async (): Promise<string> => {
  requireTerminal('Name the user with --user.');
  return (await ask('User: ')).trim();
};

const askPassword = (): Promise<string> => {
  requireTerminal('Give the password with --password-stdin.');
  return ask('Password: ', { hidden: true });
};

/** The project of before, the only one, or the only one that the user is a member of. */
const defaultProject = (who: Who, before: string | undefined): string | undefined => {
  if (before !== undefined && who.projects.some((p) => p.name === before || p.id === before)) return before;
  const own = who.projects.filter((p) => p.role !== 'admin');
  const [only, second] = own.length > 0 ? own : who.projects;
  return second === undefined ? only?.name : undefined;
};
