import 'reflect-metadata';
import { createPrivateKey, createPublicKey, randomBytes, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

type Provider = Parameters<typeof x509.X509CertificateGenerator.create>[1];
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const provider = webcrypto as unknown as Provider;

/**
 * A certificate as releases before roles issued them: the host's name as common name, and good for both directions of
 * TLS. PEM.
 */
export const olderCertificate = async (
  root: { certificate: string; key: string },
  leafKey: string,
  request: { commonName: string; uri: string },
): Promise<{ certificate: string; serial: string }> => {
  const serialNumber = `4${randomBytes(15).toString('hex').slice(1)}`.padEnd(32, '0');
  const signingKey = await webcrypto.subtle.importKey(
    'pkcs8',
    createPrivateKey(root.key).export({ type: 'pkcs8', format: 'der' }),
    algorithm,
    false,
    ['sign'],
  );
  const spki = createPublicKey(leafKey).export({ type: 'spki', format: 'der' });
  const certificate = await x509.X509CertificateGenerator.create(
    {
      serialNumber,
      subject: [{ CN: [request.commonName] }, { O: ['VC Stack'] }],
      issuer: new x509.X509Certificate(root.certificate).subjectName,
      notBefore: new Date(Date.now() - 60_000),
      notAfter: new Date(Date.now() + 30 * 86_400_000),
      signingAlgorithm: algorithm,
      publicKey: new x509.PublicKey(new Uint8Array(spki)),
      signingKey,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth]),
        new x509.SubjectAlternativeNameExtension([{ type: 'url', value: request.uri }]),
      ],
    },
    provider,
  );
  return { certificate: `${certificate.toString('pem')}\n`, serial: serialNumber };
};
