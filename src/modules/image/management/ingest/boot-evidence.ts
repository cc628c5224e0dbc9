import { startsWith } from './foreign-formats';
import type { ImageReader } from './image-reader';

/** By which firmware what is on a disk boots; `any` where both do, or nothing says. */
export type BootsBy = 'bios' | 'uefi' | 'any';

const sectorBytes = 512;
/** The boot code of a master boot record: what follows is the disk's signature and the table. */
const bootCodeBytes = 440;
const tableAt = 446;
const entryBytes = 16;
/** Types of MBR partitions: an EFI system partition, and what stands for a GPT. */
const espType = 0xef;

/** An EFI system partition, as a GPT writes it: C12A7328-F81F-11D2-BA4B-00A0C93EC93B. UEFI 2.10, table 5.7. */
const espGuid = Buffer.from('28732ac11ff8d211ba4b00a0c93ec93b', 'hex');
/** Of these, more are not looked at than a disk of a stranger's usually has. */
const mostEntries = 128;
const largestEntry = 4096;

/** ISO 9660 sectors; El Torito's boot record is the second volume descriptor, and names its catalogue. */
const isoSectorBytes = 2048;
const bootRecordAt = 17 * isoSectorBytes;
const catalogueEntryBytes = 32;
const elToritoUefi = 0xef;
const elToritoBios = 0;

interface Evidence {
  bios: boolean;
  uefi: boolean;
}

const masterBootRecord = async (reader: ImageReader): Promise<Evidence> => {
  const sector = await reader.read(0, sectorBytes);
  if (sector.length < sectorBytes || sector.readUInt16LE(510) !== 0xaa55) return { bios: false, uefi: false };
  const types = [0, 1, 2, 3].map((index) => sector[tableAt + index * entryBytes + 4]);
  return { bios: sector.subarray(0, bootCodeBytes).some((byte) => byte !== 0), uefi: types.includes(espType) };
};

/** A disk is partitioned for one size of its sectors. */
const systemPartition = async (reader: ImageReader, bytesPerSector: number): Promise<boolean> => {
  const header = await reader.read(bytesPerSector, 92);
  if (header.length < 92 || !startsWith(header, 0, 'EFI PART')) return false;
  const at = header.readBigUInt64LE(72) * BigInt(bytesPerSector);
  const [count, size] = [header.readUInt32LE(80), header.readUInt32LE(84)];
  if (size < 128 || size > largestEntry || at >= BigInt(reader.bytes)) return false;
  const entries = await reader.read(Number(at), Math.min(count, mostEntries) * size);
  for (let offset = 0; offset + espGuid.length <= entries.length; offset += size)
    if (entries.subarray(offset, offset + espGuid.length).equals(espGuid)) return true;
  return false;
};

const optical = async (reader: ImageReader): Promise<Evidence> => {
  const none = { bios: false, uefi: false };
  const record = await reader.read(bootRecordAt, 75);
  if (record.length < 75 || !startsWith(record, 1, 'CD001') || !startsWith(record, 7, 'EL TORITO SPECIFICATION'))
    return none;
  const catalogue = await reader.read(record.readUInt32LE(71) * isoSectorBytes, isoSectorBytes);
  // The first entry is the platform's, the second what it boots; headers of further platforms begin with 90 or 91 (hex).
  const platforms = new Set<number | undefined>();
  for (let at = 0; at + catalogueEntryBytes <= catalogue.length; at += catalogueEntryBytes)
    if (at === 0 ? catalogue[0] === 1 : catalogue[at] === 0x90 || catalogue[at] === 0x91)
      platforms.add(catalogue[at + 1]);
  return { bios: platforms.has(elToritoBios), uefi: platforms.has(elToritoUefi) };
};

/**
 * By which firmware a raw disk boots, as far as its partition table and boot sectors say: boot code is there for a BIOS,
 * an EFI system partition for a UEFI. Reads some dozen kilobytes, whatever the disk says of itself.
 */
export const bootsBy = async (reader: ImageReader): Promise<BootsBy> => {
  const found = [await masterBootRecord(reader), await optical(reader)];
  const bios = found.some((evidence) => evidence.bios);
  const uefi =
    found.some((evidence) => evidence.uefi) ||
    (await systemPartition(reader, 512)) ||
    (await systemPartition(reader, 4096));
  return bios === uefi ? 'any' : bios ? 'bios' : 'uefi';
};
