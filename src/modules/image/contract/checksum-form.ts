/** Hexadecimal digits of a digest, by its algorithm. */
const digestDigits = { sha256: 64, sha512: 128 } as const;

export type DigestAlgorithm = keyof typeof digestDigits;

/** The two parts of `sha512:<hex>`; a bare digest is SHA-256. */
export const checksumParts = (text: string): { algorithm: string; hex: string } => {
  const [algorithm = '', hex = ''] = text.includes(':') ? text.split(':') : ['sha256', text];
  return { algorithm, hex };
};

export const isDigestAlgorithm = (name: string): name is DigestAlgorithm => Object.hasOwn(digestDigits, name);

/** What is wrong with the digits for an algorithm that is known; null when nothing is. */
export const digestFault = (algorithm: DigestAlgorithm, hex: string): string | null =>
  hex.length === digestDigits[algorithm]
    ? null
    : `A ${algorithm} digest has ${digestDigits[algorithm]} hexadecimal digits.`;
