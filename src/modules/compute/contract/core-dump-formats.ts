/**
 * How the memory of a guest is written down. `elf`: an ELF core file, which every tool reads and every VMM that dumps
 * writes. `kdump-zlib`: what kdump writes, compressed, for `crash`.
 */
export const coreDumpFormats = ['elf', 'kdump-zlib'] as const;
export type CoreDumpFormat = (typeof coreDumpFormats)[number];
