import { createUser } from '../../../../src/modules/identity/contract/identity.api';
import { checkBy } from '../../lib/validate';

export const checkUserName = checkBy<string>(createUser.shape.name);
/** What is wrong with a new password, or null. */
export const checkPassword = checkBy<string>(createUser.shape.password);
