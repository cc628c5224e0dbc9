/** Types of SSH keys that an sshd of today lets in: no DSA, no certificates. */
export const publicKeyTypes = [
  'ssh-rsa',
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'sk-ssh-ed25519@openssh.com',
  'sk-ecdsa-sha2-nistp256@openssh.com',
] as const;

export type PublicKeyType = (typeof publicKeyTypes)[number];

export const isPublicKeyType = (type: string): type is PublicKeyType =>
  (publicKeyTypes as readonly string[]).includes(type);

/** Whether a text has the outer form of one public key: a type, base64, and perhaps a comment. What it holds is not read. */
export const hasPublicKeyForm = (text: string): boolean => {
  const [type = '', body = ''] = text.trim().split(/[ \t]+/, 2);
  return isPublicKeyType(type) && /^[A-Za-z0-9+/]+={0,3}$/.test(body) && !/[\r\n]/.test(text.trim());
};
