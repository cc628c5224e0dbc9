import { X509Certificate } from 'node:crypto';
import { type PeerCertificate, type SecureContextOptions, TLSSocket, connect } from 'node:tls';
import { fingerprint } from '../ca/certificates';
import { identityOf } from '../ca/identity-uri';

/** Both sides speak TLS 1.3 only: they are always of one installation. */
export const minVersion: SecureContextOptions['minVersion'] = 'TLSv1.3';

/**
 * For `checkServerIdentity`: whoever answers must be management; under which name or address it is reached does not
 * matter.
 */
export const mustBeManagement = (_host: string, certificate: PeerCertificate): Error | undefined =>
  identityOf(certificate.subjectaltname)?.kind === 'management'
    ? undefined
    : new Error('the peer is not management of this installation');

/** For `checkServerIdentity`: whoever answers must be exactly this host. */
export const mustBeHost =
  (hostId: string) =>
  (_host: string, certificate: PeerCertificate): Error | undefined => {
    const identity = identityOf(certificate.subjectaltname);
    return identity?.kind === 'host' && identity.hostId === hostId
      ? undefined
      : new Error(`the peer is not host ${hostId}`);
  };

/** The peer shows another root than the token names: a wrong address, or somebody in between. */
export class RootMismatchError extends Error {
  constructor(address: string) {
    super(`${address} does not belong to the installation that issued the token (its root certificate differs)`);
    this.name = 'RootMismatchError';
  }
}

/**
 * Fetches the root certificate from management by its fingerprint; nothing is sent. Also tells under which of its
 * addresses this machine reaches management. Rejects with `RootMismatchError` when the peer's chain has no such root.
 */
export const fetchRoot = (
  address: string,
  port: number,
  rootFingerprint: string,
  timeoutMs: number,
): Promise<{ root: string; localAddress: string }> =>
  new Promise((resolve, reject) => {
    const socket: TLSSocket = connect({
      host: address,
      port,
      rejectUnauthorized: false,
      minVersion,
      timeout: timeoutMs,
    });
    const fail = (error: Error): void => {
      socket.destroy();
      reject(error);
    };
    socket.once('timeout', () => fail(new Error(`no answer from ${address}:${port} within ${timeoutMs} ms`)));
    socket.once('error', fail);
    socket.once('secureConnect', () => {
      const localAddress = (socket.localAddress ?? '').replace(/^::ffff:/, '');
      let certificate = socket.getPeerX509Certificate();
      for (let depth = 0; certificate && depth < 8; depth += 1, certificate = certificate.issuerCertificate) {
        if (fingerprint(certificate.raw) === rootFingerprint) {
          socket.destroy();
          return resolve({ root: new X509Certificate(certificate.raw).toString(), localAddress });
        }
      }
      return fail(new RootMismatchError(`${address}:${port}`));
    });
  });
