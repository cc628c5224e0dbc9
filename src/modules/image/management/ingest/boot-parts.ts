/** What an image may bring beside its disk, by the names that its files have everywhere. */
export const bootParts = ['kernel', 'initramfs'] as const;
export type BootPart = (typeof bootParts)[number];
