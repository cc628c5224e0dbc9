/**
 * A valid host name (RFC 1123 label) from a display name: lower case, other characters to dashes, at most 63 characters.
 * A name without any usable character gives `instance-` and the end of the id, which is random.
 */
export const hostnameFrom = (name: string, id: string): string => {
  const label = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, 63)
    .replace(/-+$/, '');
  return label === '' ? `instance-${id.slice(-8)}` : label;
};
