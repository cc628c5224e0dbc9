import { access } from 'node:fs/promises';

/** What the C library looks names up by, and OpenSSL's roots of trust where Node is built to use them. */
const files = [
  '/etc/hosts',
  '/etc/resolv.conf',
  '/etc/nsswitch.conf',
  '/etc/gai.conf',
  '/etc/host.conf',
  '/etc/ssl/certs',
  '/etc/ssl/openssl.cnf',
];

/** Those of `paths` that are named and there. */
export const existing = async (paths: readonly (string | undefined)[]): Promise<string[]> => {
  const there = await Promise.all(
    paths.map((path) =>
      path === undefined || path === ''
        ? []
        : access(path).then(
            () => [path],
            () => [],
          ),
    ),
  );
  return there.flat();
};

/** Files that a child needs to find servers by name and to know them by their certificates. */
export const nameServiceFiles = (): Promise<string[]> => existing(files);
