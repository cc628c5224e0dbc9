import type { PeerCertificate, TLSSocket } from 'node:tls';
import { serialOf } from './ca/certificates';
import { identityOf, type PeerIdentity } from './ca/identity-uri';

export interface Peer {
  identity: PeerIdentity | null;
  /** Of its certificate, as the certificate authority writes it. */
  serial: string;
}

/**
 * A connection's peer never changes, and taking its certificate apart for each request costs more than many a request.
 */
const peers = new WeakMap<TLSSocket, Peer>();

/** Who is at the other end; null unless the handshake verified the chain of its certificate. */
export const peerOf = (socket: TLSSocket): Peer | null => {
  // Node counts a resumed session as authorised, whether it ever showed a certificate or not; our own peers never
  // resume one.
  if (!socket.authorized || socket.isSessionReused()) return null;
  let peer = peers.get(socket);
  if (!peer) {
    const certificate = socket.getPeerCertificate() as Partial<PeerCertificate>;
    if (certificate.serialNumber === undefined) return null;
    peer = { identity: identityOf(certificate.subjectaltname), serial: serialOf(certificate.serialNumber) };
    peers.set(socket, peer);
  }
  return peer;
};
