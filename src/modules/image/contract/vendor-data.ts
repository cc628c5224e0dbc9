import { z } from 'zod';

/** Of vendor data, in UTF-8. */
const maxVendorDataBytes = 65_536;
const utf8Bytes = (text: unknown): number => new TextEncoder().encode(String(text)).length;

/**
 * What a flavor or an image gives every guest made with it beside its user data: text in one of cloud-init's forms.
 * Whoever sees the object can read it. Null for none.
 */
export const vendorData = z
  .string()
  .refine((text) => utf8Bytes(text) <= maxVendorDataBytes, {
    error: (issue) => `at most ${maxVendorDataBytes} bytes; this has ${utf8Bytes(issue.input)}`,
    params: { code: 'too_long' },
  })
  .refine((text) => !text.includes('\u0000'), { error: 'NUL is not allowed', params: { code: 'control_characters' } })
  .nullable();
