import { allowedGlobally } from '../../../core/auth/permissions/permissions';
import type { Principal } from '../../../core/auth/principal';

/**
 * True when the principal may know which hosts there are, what runs where and how much room is left: administrators,
 * not tenants.
 */
export const seesHosts = (principal: Principal): boolean => allowedGlobally(principal, 'host:read');
