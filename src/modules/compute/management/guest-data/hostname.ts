const longest = 63;

/**
 * Labels with a meaning elsewhere: addresses to old resolvers (`127`, `0x7f`), lease times and keywords of DHCP
 * servers, names that every machine has, and names that clients look for by themselves.
 */
const elsewhere =
  /^(\d+[smhdw]?|0x[0-9a-f]*|infinite|ignore|local|localdomain|localhost\d*|ip6-(localhost|loopback|localnet|allnodes|allrouters)|broadcasthost|wpad|isatap|instance-data)$/;

const cut = (label: string, length: number): string => label.slice(0, length).replace(/-+$/, '');

/**
 * A valid host name (RFC 1123 label) from a display name: lower case, other characters to dashes, at most 63
 * characters. A name without any usable character gives `instance-` and the end of the id, which is random; one that
 * means something elsewhere gets `instance-` before it.
 */
export const hostnameFrom = (name: string, id: string): string => {
  const label = cut(
    name
      .normalize('NFKD')
      .toLowerCase()
      .replace(/[\u0300-\u036f]/g, '')
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+/, ''),
    longest,
  );
  if (label === '') return `instance-${id.slice(-8)}`;
  return elsewhere.test(label) ? cut(`instance-${label}`, longest) : label;
};

/**
 * The hostname, and what to take in its place while others of the project have it: with `-2` to `-9`, at last with the
 * end of the id.
 */
export const hostnamesFrom = (name: string, id: string): string[] => {
  const first = hostnameFrom(name, id);
  return [
    first,
    ...['2', '3', '4', '5', '6', '7', '8', '9', id.slice(-12)].map(
      (end) => `${cut(first, longest - 1 - end.length)}-${end}`,
    ),
  ];
};
