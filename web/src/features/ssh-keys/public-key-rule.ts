import { createSshKey } from '../../../../src/modules/compute/contract/compute.api';
import { hasPublicKeyForm } from '../../../../src/modules/compute/contract/public-key-types';
import { checkBy } from '../../lib/validate';

const checkText = checkBy<string>(createSshKey.shape.publicKey);

const privateKey =
  'This is a private key, which nobody but you should have. Paste the public one, of the file that ends in .pub.';

/** What is wrong with a key as it looks, or null; what it holds, the server reads. */
export const checkPublicKey = (text: string): string | null =>
  (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text) ? privateKey : null) ??
  checkText(text.trim()) ??
  (hasPublicKeyForm(text) ? null : 'Paste one public key in OpenSSH form, such as "ssh-ed25519 AAAA… you@laptop".');
