import { readFile } from 'node:fs/promises';

/** Parses resolv.conf: IPv4 servers that others could reach too, at most three. */
export const parseResolvers = (text: string): string[] =>
  [...text.matchAll(/^\s*nameserver\s+(\d{1,3}(?:\.\d{1,3}){3})\s*$/gm)]
    .map((m) => m[1] ?? '')
    .filter((a) => !a.startsWith('127.') && a !== '0.0.0.0')
    .slice(0, 3);

/** The host's own DNS servers; behind a local stub, those that the stub asks. */
export const hostResolvers = async (): Promise<string[]> => {
  for (const file of ['/etc/resolv.conf', '/run/systemd/resolve/resolv.conf']) {
    const found = parseResolvers(await readFile(file, 'utf8').catch(() => ''));
    if (found.length > 0) return found;
  }
  return [];
};
