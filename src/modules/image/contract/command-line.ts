import { z } from 'zod';

/** Linux for x86 keeps 2048 bytes, the last of them a zero. */
const maxCommandLine = 2047;

/** What a kernel is told when it is booted: printable ASCII. */
export const commandLine = z
  .string()
  .max(maxCommandLine)
  .refine((text) => /^[\x20-\x7e]*$/.test(text), {
    error: 'only printable ASCII is allowed',
    params: { code: 'not_printable' },
  });
