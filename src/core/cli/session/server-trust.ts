import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import {
  checkServerIdentity,
  connect,
  type ConnectionOptions,
  type DetailedPeerCertificate,
  type PeerCertificate,
} from 'node:tls';
import { identityOf } from '../../m2m/ca/identity-uri';
import type { Profile } from './profile-store';

const deadlineMs = 10_000;

export interface SeenCertificate {
  pem: string;
  /** SHA-256 of the DER form, 64 hex digits. */
  fingerprint: string;
  subject: string;
  /** Issued by itself. */
  root: boolean;
}

/**
 * For `checkServerIdentity`: the certificate must carry the name or address that was called, among its alternative
 * names (a common name is no name), and when it says a role in an installation, that must be management's: those of
 * hosts are signed by the same authority.
 */
const mustBeServer = (host: string, certificate: PeerCertificate): Error | undefined => {
  const { subjectaltname } = certificate;
  if (subjectaltname?.includes('URI:urn:vc-stack:') && identityOf(subjectaltname)?.kind !== 'management')
    return new Error('the certificate is not of a management process: something else answers here');
  const { CN: _, ...subject } = certificate.subject;
  return checkServerIdentity(host, { ...certificate, subject: subject as PeerCertificate['subject'] });
};

/** TLS options that trust what the profile trusts and nothing else. */
export const tlsOptions = (profile: Pick<Profile, 'ca' | 'pinned'>): ConnectionOptions => {
  if (profile.ca === undefined) return { checkServerIdentity: mustBeServer };
  if (!profile.pinned) return { ca: profile.ca, checkServerIdentity: mustBeServer };
  // The one certificate itself is the anchor: nothing but its key can answer, whatever name it carries.
  return { ca: profile.ca, allowPartialTrustChain: true, checkServerIdentity: () => undefined };
};

/**
 * The certificates that a server shows, its own first, and whether the system's authorities vouch for it. Sends no
 * credential. Throws the connection's error, or one after ten seconds.
 */
export const inspectServer = (url: string): Promise<{ chain: SeenCertificate[]; trusted: boolean }> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const host = hostname.replace(/^\[|\]$/g, '');
    // Only looks: nothing is sent, and what is seen here is confirmed by the user or a fingerprint before anything is.
    const socket = connect({
      host,
      port: Number(port || 443),
      rejectUnauthorized: false,
      ...(isIP(host) === 0 && { servername: host }),
    });
    const timer = setTimeout(
      () => socket.destroy(new Error(`no answer from ${url} within ${deadlineMs / 1000} seconds`)),
      deadlineMs,
    );
    socket.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    socket.once('secureConnect', () => {
      clearTimeout(timer);
      const result = { chain: chainOf(socket.getPeerCertificate(true)), trusted: socket.authorized };
      socket.destroy();
      resolve(result);
    });
  });

const chainOf = (leaf: DetailedPeerCertificate): SeenCertificate[] => {
  const chain: SeenCertificate[] = [];
  const seen = new Set<string>();
  for (let cert: DetailedPeerCertificate | undefined = leaf; cert?.raw; cert = cert.issuerCertificate) {
    const fingerprint = createHash('sha256').update(cert.raw).digest('hex');
    if (seen.has(fingerprint)) break;
    seen.add(fingerprint);
    const body = cert.raw
      .toString('base64')
      .replace(/(.{64})/g, '$1\n')
      .trimEnd();
    const name = cert.subject?.CN;
    chain.push({
      pem: `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`,
      fingerprint,
      subject: Array.isArray(name) ? name.join(', ') : (name ?? ''),
      root: JSON.stringify(cert.subject) === JSON.stringify(cert.issuer),
    });
  }
  return chain;
};

/**
 * What to put into a profile so that this certificate is trusted: an authority signs others, a server's own is pinned.
 */
export const trustIn = (chain: SeenCertificate[], certificate: SeenCertificate): Pick<Profile, 'ca' | 'pinned'> =>
  certificate === chain[0] ? { ca: certificate.pem, pinned: true } : { ca: certificate.pem };

/** `SHA256:AB:CD…`, `sha256:abcd…` or 64 hex digits → 64 hex digits in lower case; undefined for anything else. */
export const normaliseFingerprint = (value: string): string | undefined => {
  const hex = value
    .trim()
    .toLowerCase()
    .replace(/^sha256[:=]/, '')
    .replaceAll(':', '');
  return /^[0-9a-f]{64}$/.test(hex) ? hex : undefined;
};

/** 64 hex digits → `AB:CD:…`. */
export const readableFingerprint = (hex: string): string => (hex.toUpperCase().match(/../g) ?? []).join(':');
