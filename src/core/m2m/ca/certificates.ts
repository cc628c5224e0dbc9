import 'reflect-metadata';
import { createHash, randomBytes, webcrypto, X509Certificate as NodeCertificate } from 'node:crypto';
import { isIP } from 'node:net';
import * as x509 from '@peculiar/x509';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const provider = webcrypto as unknown as Crypto;
/** Clocks of hosts differ: a certificate is valid from a little before it was made. */
const backdateMs = 5 * 60_000;
const dayMs = 86_400_000;

type Crypto = Parameters<typeof x509.X509CertificateGenerator.create>[1];
type KeyPair = Awaited<ReturnType<typeof webcrypto.subtle.generateKey>> & {
  publicKey: webcrypto.CryptoKey;
  privateKey: webcrypto.CryptoKey;
};

/** A certificate and its private key, both PEM. */
export interface KeyedCertificate {
  certificate: string;
  key: string;
}

/**
 * What a certificate is for. `server`: 8443 and 8445 of a management process, and the only one with names and
 * addresses. `management`: its calls to nodes. `host`: a node's calls to management and its own port, which management
 * alone opens and knows by the identity.
 */
type CertificateRole = 'server' | 'management' | 'host';

export interface LeafRequest {
  role: CertificateRole;
  /** The identity, see `identity-uri.ts`. */
  uri: string;
  /** DNS names and IP addresses. */
  hosts: string[];
  validDays: number;
}

/** What a signing request proves: that its sender holds the private key of this public key. */
export interface SigningRequest {
  publicKey: Uint8Array<ArrayBuffer>;
  /** SHA-256 of the public key, hex. */
  keyHash: string;
}

const newKeys = async (): Promise<KeyPair> =>
  (await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as KeyPair;

const keyPem = async (key: webcrypto.CryptoKey): Promise<string> => {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key));
  return `-----BEGIN PRIVATE KEY-----\n${der.toString('base64').replace(/(.{64})(?=.)/g, '$1\n')}\n-----END PRIVATE KEY-----\n`;
};

const derOfPem = (pem: string): Buffer => Buffer.from(pem.replace(/-----[^-]+-----/g, '').replace(/\s/g, ''), 'base64');

const usages: Record<CertificateRole, x509.ExtendedKeyUsage[]> = {
  server: [x509.ExtendedKeyUsage.serverAuth],
  management: [x509.ExtendedKeyUsage.clientAuth],
  host: [x509.ExtendedKeyUsage.clientAuth, x509.ExtendedKeyUsage.serverAuth],
};

/** First bit 0: a serial number is a positive integer. */
const newSerial = (): string => {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes.toString('hex');
};

/** SHA-256 over the DER form, hex: how a token names the root. */
export const fingerprint = (certificate: string | Buffer): string =>
  createHash('sha256')
    .update(typeof certificate === 'string' ? derOfPem(certificate) : certificate)
    .digest('hex');

/** Serial number in the form under which certificates are recorded: lower-case hex without leading zeros. */
export const serialOf = (serialNumber: string): string => serialNumber.toLowerCase().replace(/^0+(?=.)/, '');

/** Facts of a PEM certificate. */
export const describe = (pem: string): { serial: string; notBefore: Date; notAfter: Date; subjectAltName: string } => {
  const certificate = new NodeCertificate(pem);
  return {
    serial: serialOf(certificate.serialNumber),
    notBefore: new Date(certificate.validFrom),
    notAfter: new Date(certificate.validTo),
    subjectAltName: certificate.subjectAltName ?? '',
  };
};

/** True once less than a third of the certificate's life is left: time to renew. */
export const dueForRenewal = (pem: string, now: Date = new Date()): boolean => {
  const { notBefore, notAfter } = describe(pem);
  return notAfter.getTime() - now.getTime() < (notAfter.getTime() - notBefore.getTime()) / 3;
};

/**
 * True for a certificate of before roles: with a common name, for both directions of TLS. It is replaced as soon as its
 * owner runs again.
 */
export const isOfOlderForm = (pem: string): boolean => /^CN=/m.test(new NodeCertificate(pem).subject);

/** A new root, valid ten years. */
export const createRoot = async (commonName: string): Promise<KeyedCertificate> => {
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      serialNumber: newSerial(),
      name: [{ CN: [commonName] }, { O: ['VC Stack'] }],
      notBefore: new Date(Date.now() - backdateMs),
      notAfter: new Date(Date.now() + 3650 * dayMs),
      signingAlgorithm: algorithm,
      keys,
      extensions: [
        new x509.BasicConstraintsExtension(true, 0, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey, false, provider),
      ],
    },
    provider,
  );
  return { certificate: `${certificate.toString('pem')}\n`, key: await keyPem(keys.privateKey) };
};

/**
 * Signs a certificate. Its subject has no common name: clients that find no alternative name of theirs would take that
 * for the server's. Only the role `server` may have names and addresses. Returns PEM.
 */
export const issue = async (
  root: KeyedCertificate,
  publicKey: Uint8Array<ArrayBuffer>,
  request: LeafRequest,
): Promise<string> => {
  if (request.role !== 'server' && request.hosts.length > 0)
    throw new Error(`a certificate of the role ${request.role} has no names`);
  const issuer = new x509.X509Certificate(root.certificate);
  const signingKey = await webcrypto.subtle.importKey('pkcs8', derOfPem(root.key), algorithm, false, ['sign']);
  const publicKeyData = new x509.PublicKey(publicKey);
  const certificate = await x509.X509CertificateGenerator.create(
    {
      serialNumber: newSerial(),
      subject: [{ O: ['VC Stack'] }, { OU: [request.role] }],
      issuer: issuer.subjectName,
      notBefore: new Date(Date.now() - backdateMs),
      notAfter: new Date(Date.now() + request.validDays * dayMs),
      signingAlgorithm: algorithm,
      publicKey: publicKeyData,
      signingKey,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension(usages[request.role]),
        new x509.SubjectAlternativeNameExtension([
          { type: 'url', value: request.uri },
          ...request.hosts.map((host) => ({ type: isIP(host) ? ('ip' as const) : ('dns' as const), value: host })),
        ]),
        await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey, false, provider),
        await x509.SubjectKeyIdentifierExtension.create(publicKeyData, false, provider),
      ],
    },
    provider,
  );
  return `${certificate.toString('pem')}\n`;
};

/** A new key and a certificate of the root for it. */
export const issueWithKey = async (root: KeyedCertificate, request: LeafRequest): Promise<KeyedCertificate> => {
  const keys = await newKeys();
  const publicKey = new Uint8Array(await webcrypto.subtle.exportKey('spki', keys.publicKey));
  return { certificate: await issue(root, publicKey, request), key: await keyPem(keys.privateKey) };
};

/** A new key and a signing request for it, both PEM. The key stays with the caller. */
export const createSigningRequest = async (commonName: string): Promise<{ key: string; csr: string }> => {
  const keys = await newKeys();
  const csr = await x509.Pkcs10CertificateRequestGenerator.create(
    { name: [{ CN: [commonName] }], keys, signingAlgorithm: algorithm },
    provider,
  );
  return { key: await keyPem(keys.privateKey), csr: `${csr.toString('pem')}\n` };
};

/**
 * Checks a signing request's own signature and its kind of key (P-256). Null for anything else: names and extensions in
 * it are ignored.
 */
export const readSigningRequest = async (csr: string): Promise<SigningRequest | null> => {
  try {
    const request = new x509.Pkcs10CertificateRequest(csr);
    if (!(await request.verify(provider))) return null;
    const publicKey = new Uint8Array(request.publicKey.rawData);
    await webcrypto.subtle.importKey('spki', publicKey, algorithm, false, ['verify']);
    return { publicKey, keyHash: createHash('sha256').update(publicKey).digest('hex') };
  } catch {
    return null;
  }
};
