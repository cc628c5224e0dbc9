import { defaulted, flag, nonzeroU32, nonzeroU64, object, optional, path, required, text, variant } from './decode';

const memoryMode = variant('Precopy', 'Postcopy');
export const sendMigrationBody = object('VmSendMigrationData', {
  destination_url: required(text),
  local: defaulted(flag, false),
  downtime_ms: defaulted(nonzeroU64, 300),
  timeout_s: defaulted(nonzeroU64, 3600),
  timeout_strategy: defaulted(variant('Cancel', 'Ignore'), 'Cancel'),
  connections: defaulted(nonzeroU32, 1),
  tls_dir: optional(path),
  memory_mode: defaulted(memoryMode, 'Precopy'),
});
export const receiveMigrationBody = object('VmReceiveMigrationData', {
  receiver_url: required(text),
  tls_dir: optional(path),
  memory_mode: defaulted(memoryMode, 'Precopy'),
});
export type SendMigration = ReturnType<typeof sendMigrationBody>;
export type ReceiveMigration = ReturnType<typeof receiveMigrationBody>;

/** What is wrong with where a migration is to go, outermost first. */
export type UrlFault = readonly string[];

const mostConnections = 128;

/** What is wrong with `<host>:<port>`. */
const addressFault = (address: string): string | null => {
  const bracketed = address.startsWith('[');
  if (bracketed && !address.includes(']')) return "Missing closing ']' for bracketed IPv6 address";
  if (bracketed && !address.slice(address.indexOf(']')).startsWith(']:'))
    return 'Missing port separator after bracketed host';
  if (!address.includes(':')) return 'Missing TCP port';
  const cut = address.lastIndexOf(':');
  const host = bracketed ? address.slice(1, address.indexOf(']')) : address.slice(0, cut);
  const port = address.slice(cut + 1);
  if (host === '') return 'Host must not be empty';
  if (port === '') return 'Port must not be empty';
  return /^\d{1,5}$/.test(port) && Number(port) <= 65_535 ? null : `Invalid TCP port: ${port}`;
};

const isUnix = (url: string): boolean => url.startsWith('unix:') && url !== 'unix:';
const forms = 'must use tcp:<host>:<port> or unix:<path>';
const noTls = 'UNIX sockets and TLS encryption cannot be used at the same time.';

export const checkDestination = (wanted: SendMigration): UrlFault | null => {
  const fault = (text: string): UrlFault => [`Error validating send migration parameters: ${text}`];
  const { destination_url: url, connections, tls_dir: tls, local } = wanted;
  if (url.startsWith('tcp:')) {
    const wrong = addressFault(url.slice(4));
    if (wrong !== null) return [...fault(`destination_url ${forms}.`), wrong];
  } else if (isUnix(url)) {
    if (connections > 1) return fault('UNIX sockets and connections option cannot be used at the same time.');
    if (tls !== null) return fault(noTls);
  } else return fault(`destination_url ${forms}.`);
  if (connections > mostConnections) return fault(`connections must not exceed ${mostConnections}.`);
  if (local && !url.startsWith('unix:')) return fault('local option is only supported with UNIX sockets.');
  // Certificates are not simulated: none is ever right.
  return tls === null ? null : fault('invalid TLS configuration for send-migration: no certificate is readable');
};

/** `place`: the release's words for a URL that is none, or whose address is none. */
export const checkReceiver = (
  wanted: ReceiveMigration,
  place: (address: string | null) => UrlFault,
): UrlFault | null => {
  const fault = (text: string): UrlFault => [`Error validating receive migration parameters: ${text}`];
  const { receiver_url: url, tls_dir: tls } = wanted;
  if (url.startsWith('tcp:')) {
    const wrong = addressFault(url.slice(4));
    if (wrong !== null) return place(wrong);
  } else if (isUnix(url)) {
    if (tls !== null) return fault(noTls);
  } else return place(null);
  return tls === null ? null : fault('invalid TLS configuration for receive-migration: no certificate is readable');
};

/** How Node reaches it. */
export const placeOfUrl = (
  url: string,
): { kind: 'TCP' | 'UNIX'; options: { path: string } | { host: string; port: number } } => {
  if (!url.startsWith('tcp:')) return { kind: 'UNIX', options: { path: url.slice('unix:'.length) } };
  const address = url.slice('tcp:'.length);
  const cut = address.lastIndexOf(':');
  return {
    kind: 'TCP',
    options: { host: address.slice(0, cut).replace(/^\[(.*)\]$/, '$1'), port: Number(address.slice(cut + 1)) },
  };
};
