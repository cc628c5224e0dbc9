import { z } from 'zod';

/** Shares of one instance. */
export const mostShares = 4;

/**
 * What operators call a share, and what guests mount it by: at most the 36 bytes that virtio-fs has for it, and nothing that
 * means anything on a command line or in a path.
 */
export const shareNamePattern = /^[a-z0-9](?:[a-z0-9_-]{0,34}[a-z0-9])?$/;
export const shareName = z.string().regex(shareNamePattern, {
  error: 'has up to 36 lower-case letters, digits, hyphens and underscores, and none of the latter at its ends',
});

/** A share that an instance has, or asks for. */
export const shareAsked = z.object({ share: z.string(), readonly: z.boolean() });
export type AskedShare = z.infer<typeof shareAsked>;

/** In requests: each once. */
export const sharesInput = z
  .array(z.strictObject({ share: shareName, readonly: z.boolean().default(false) }))
  .max(mostShares)
  .superRefine((shares, context) => {
    for (const [index, { share }] of shares.entries())
      if (shares.findIndex((one) => one.share === share) < index)
        context.addIssue({ code: 'custom', path: [index, 'share'], message: 'is there already' });
  })
  .default([]);

/** In specifications for hosts, and on record there. The project is told too: a host gives its shares to projects. */
export const sharesOfSpec = z.object({ projectId: z.string(), wanted: z.array(shareAsked).min(1) });
export type SharesOfSpec = z.infer<typeof sharesOfSpec>;
