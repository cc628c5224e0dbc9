import { createSshKey } from '../../../../src/modules/compute/contract/compute.api';
import { hasPublicKeyForm } from '../../../../src/modules/compute/contract/public-key-types';
import { checkBy } from '../../lib/validate';

const checkText = checkBy<string>(createSshKey.shape.publicKey);

/** What is wrong with a key as it looks, or null; what it holds, the server reads. */
export const checkPublicKey = (text: string): string | null =>
  checkText(text.trim()) ??
  (hasPublicKeyForm(text) ? null : 'Paste one public key in OpenSSH form, such as "ssh-ed25519 AAAA… you@laptop".');
