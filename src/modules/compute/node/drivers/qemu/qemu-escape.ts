/** A comma ends a value in QEMU's option lists; doubled it stands for itself. */
export const escapeValue = (value: string): string => value.replaceAll(',', ',,');
