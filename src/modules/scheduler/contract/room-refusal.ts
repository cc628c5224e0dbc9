import { Problem } from '../../../core/errors/problem';

const forTenants = 'Its host has no room for this size at the moment. Choose a smaller one, or ask an administrator.';

/** 409 `no_room`: an instance cannot grow where it is. Operators are told what there is, tenants are not. */
export class RoomRefusal extends Problem {
  constructor(host: string, reason: string, operator = false) {
    const forOperators = `Host ${host} has no room for this size: it ${reason}.`;
    super({
      status: 409,
      code: 'no_room',
      detail: operator ? forOperators : forTenants,
      // A task keeps it for operators.
      ...(!operator && { cause: forOperators }),
    });
  }
}
