import type { Options } from '../../lib/command';
import type { CreateImage } from '../../lib/types';
import { checksumParts, digestFault, isDigestAlgorithm } from '../../../../src/modules/image/contract/checksum-form';
import { commandLine } from '../../../../src/modules/image/contract/command-line';
import { createImage } from '../../../../src/modules/image/contract/image.api';
import { checkBy, checkName } from '../../lib/validate';

export type Firmware = NonNullable<CreateImage['firmware']>;

/** Files of an image, by what the server calls them. */
export type BootFiles = Partial<Record<'kernel' | 'initramfs' | 'content', File>>;

/** What is filled in to add an image. */
export interface NewImageDraft {
  /** Sent by this browser, or fetched by the server. */
  source: 'file' | 'url';
  file: File | null;
  url: string;
  /** With a file: what boots it, whatever is on the disk. */
  kernel: File | null;
  initramfs: File | null;
  commandLine: string;
  name: string;
  checksum: string;
  firmware: Firmware;
  /** Kind of VMM; empty for whichever. */
  vmm: string;
  /** Visible in all projects. */
  open: boolean;
}

export const emptyImage: NewImageDraft = {
  source: 'file',
  file: null,
  url: '',
  kernel: null,
  initramfs: null,
  commandLine: '',
  name: '',
  checksum: '',
  firmware: 'any',
  vmm: '',
  open: false,
};

const checkUrl = checkBy<string>(createImage.shape.url, { invalid_format: 'An http or https address.' });
const checkKind = checkBy<string | null>(createImage.shape.vmm);
/** A kind of VMM; no text is none. */
export const checkVmm = (value: string): string | null => (value.trim() === '' ? null : checkKind(value.trim()));
const checkForm = checkBy<string>(createImage.shape.checksum);
const checkChecksum = (value: string): string | null => {
  const { algorithm, hex } = checksumParts(value);
  if (checkForm(value) !== null || !isDigestAlgorithm(algorithm)) return 'sha256:… or sha512:…, in hexadecimal.';
  return digestFault(algorithm, hex);
};
const checkFile = (file: File | null): string | null =>
  file === null ? 'Choose a file.' : file.size === 0 ? 'This file is empty.' : null;

/** What is told to the kernel of an image. */
export const checkCommandLine = checkBy<string>(commandLine, { custom: 'Letters, digits and signs of ASCII only.' });

/** The kernel that is sent, with what goes with it; null where there is none to send. */
const ownKernel = ({ source, kernel, initramfs, commandLine: told }: NewImageDraft) =>
  source === 'url' || kernel === null ? null : { kernel, initramfs, commandLine: told.trim() };

/** What is sent of the image, in order: the disk comes last. */
export const filesOf = (draft: NewImageDraft): BootFiles => {
  const own = ownKernel(draft);
  return {
    ...(own && { kernel: own.kernel }),
    ...(own?.initramfs && { initramfs: own.initramfs }),
    ...(draft.source === 'file' && draft.file && { content: draft.file }),
  };
};

/** What is wrong, by field; null where all is well. */
export const problemsOf = ({
  source,
  file,
  url,
  name,
  checksum,
  vmm,
  ...rest
}: NewImageDraft): Record<string, string | null> => ({
  name: checkName(name),
  commandLine: rest.kernel === null ? null : checkCommandLine(rest.commandLine.trim()),
  source: source === 'file' ? checkFile(file) : null,
  url: source === 'url' ? checkUrl(url.trim()) : null,
  checksum: checksum.trim() === '' ? null : checkChecksum(checksum.trim()),
  vmm: checkVmm(vmm),
});

/** A name from a path or an address: its last part without what says the format; empty when that is no name. */
export const nameFrom = (path: string): string => {
  const last =
    path
      .split(/[/?#]/)
      .filter((part) => part !== '')
      .at(-1) ?? '';
  const stem = last.replace(/\.(img|raw|qcow2|bin)$/i, '').slice(0, 63);
  return checkName(stem) === null ? stem : '';
};

export const bodyOf = (draft: NewImageDraft): CreateImage => {
  const { source, url, name, checksum, vmm, open } = draft;
  const own = ownKernel(draft);
  const firmware = firmwareOf(draft);
  return {
    name,
    ...(source === 'url' ? { url: url.trim() } : {}),
    ...(own === null ? {} : { kernel: { commandLine: own.commandLine } }),
    ...(checksum.trim() === '' ? {} : { checksum: checksum.trim() }),
    ...(firmware === 'any' ? {} : { firmware }),
    ...(vmm.trim() === '' ? {} : { vmm: vmm.trim() }),
    ...(open ? { public: true } : {}),
  };
};

/** A kernel of its own is asked for by no firmware. */
const firmwareOf = (draft: NewImageDraft): Firmware => (ownKernel(draft) === null ? draft.firmware : 'any');

/** The options of `vcctl image import` that ask for the same. */
export const commandOptions = (draft: NewImageDraft): Options => {
  const { source, file, url, name, checksum, vmm, open } = draft;
  const own = ownKernel(draft);
  const firmware = firmwareOf(draft);
  return {
    ...(source === 'file' ? { file: file?.name ?? 'disk.img' } : { url: url.trim() }),
    kernel: own?.kernel.name ?? '',
    initramfs: own?.initramfs?.name ?? '',
    'command-line': own?.commandLine ?? '',
    name,
    checksum: checksum.trim(),
    firmware: firmware === 'any' ? '' : firmware,
    vmm: vmm.trim(),
    public: open,
  };
};
