/**
 * The name of an identity in its certificate: a URI among the subject's alternative names. Addresses are never
 * identities.
 */
const hostPrefix = 'urn:vc-stack:host:';

/** Identity of every management process of the installation. */
export const managementUri = 'urn:vc-stack:management';

export const hostUri = (hostId: string): string => `${hostPrefix}${hostId}`;

export type PeerIdentity = { kind: 'management' } | { kind: 'host'; hostId: string };

/**
 * Reads who a verified certificate is for. Node prints alternative names as `DNS:a, URI:b`; a certificate with no
 * identity of ours, or with more than one, is nobody's.
 */
export const identityOf = (subjectAltName: string | undefined): PeerIdentity | null => {
  const uris = (subjectAltName ?? '')
    .split(', ')
    .filter((name) => name.startsWith('URI:urn:vc-stack:'))
    .map((name) => name.slice(4));
  const uri = uris.length === 1 ? uris[0] : undefined;
  if (uri === managementUri) return { kind: 'management' };
  if (uri?.startsWith(hostPrefix)) {
    const hostId = uri.slice(hostPrefix.length);
    return /^[0-9a-f-]{36}$/.test(hostId) ? { kind: 'host', hostId } : null;
  }
  return null;
};
