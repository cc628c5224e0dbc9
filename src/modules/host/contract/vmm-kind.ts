import { z } from 'zod';

/** A kind of virtual machine monitor, e.g. `qemu`; null leaves it to the host. */
export const vmmKind = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, { error: 'a kind of virtual machine monitor, such as qemu' })
  .nullable();
