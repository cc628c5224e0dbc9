/**
 * The rules of the REST contract that a form can check before it asks. Each answers the message, or null when all is
 * well.
 */

const forbidden = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u;

export const checkName = (value: string): string | null => {
  if (value === '') return 'A name is needed.';
  if ([...value].length > 63) return 'At most 63 characters.';
  if (forbidden.test(value)) return 'Control characters are not allowed.';
  if (value.trim() !== value) return 'No blanks at the start or end.';
  if (/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(value))
    return 'A name must not look like an id.';
  return null;
};

export const checkPublicKey = (value: string): string | null =>
  /^(ssh-(ed25519|rsa)|ecdsa-sha2-nistp(256|384|521)|sk-(ssh-ed25519|ecdsa-sha2-nistp256)@openssh\.com)\s+[A-Za-z0-9+/]+={0,3}(\s.*)?$/.test(
    value.trim(),
  )
    ? null
    : 'Paste one public key in OpenSSH form, such as "ssh-ed25519 AAAA… you@laptop".';

const octets = (value: string): number[] | null => {
  const parts = value.split('.');
  if (parts.length !== 4 || !parts.every((p) => /^(0|[1-9]\d{0,2})$/.test(p) && Number(p) <= 255)) return null;
  return parts.map(Number);
};
const toNumber = (parts: number[]): number => parts.reduce((sum, part) => sum * 256 + part, 0);

export const checkAddress = (value: string, subnet?: string): string | null => {
  const parts = octets(value);
  if (parts === null) return 'An IPv4 address such as 10.10.0.20.';
  if (subnet === undefined) return null;
  const [base, bits] = subnet.split('/');
  const net = octets(base ?? '');
  if (net === null) return null;
  const size = 2 ** (32 - Number(bits));
  return Math.floor(toNumber(parts) / size) === Math.floor(toNumber(net) / size) ? null : `Not inside ${subnet}.`;
};

export const checkSubnet = (value: string): string | null => {
  const match = /^(.+)\/(\d{1,2})$/.exec(value);
  const parts = match?.[1] === undefined ? null : octets(match[1]);
  if (match === null || parts === null) return 'IPv4 in CIDR form, such as 10.10.0.0/24.';
  const bits = Number(match[2]);
  if (bits < 8 || bits > 29) return 'The prefix must be between /8 and /29.';
  if (toNumber(parts) % 2 ** (32 - bits) !== 0)
    return `The address has bits beyond /${bits}; the network starts earlier.`;
  return null;
};

/** Seconds that a stop waits for the guest. */
export const checkGrace = (value: string): string | null =>
  /^\d{1,3}$/.test(value) && Number(value) <= 600 ? null : 'A whole number from 0 to 600.';

/** Of user data: UTF-8 bytes. */
export const userDataLimit = 64 * 1024;
export const utf8Length = (value: string): number => new TextEncoder().encode(value).length;
