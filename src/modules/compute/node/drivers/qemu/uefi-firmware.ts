import { access, chown, readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import { z } from 'zod';

/** A UEFI for QEMU: its code, and the template of the variables of which each VM has a copy. Absolute paths, raw. */
export interface UefiFirmware {
  code: string;
  variables: string;
}

const file = z.object({ filename: z.string(), format: z.literal('raw') });
/** As far as it is used here; QEMU documents all of it in docs/interop/firmware.json. */
const descriptor = z.object({
  'interface-types': z.array(z.string()),
  mapping: z.object({
    device: z.literal('flash'),
    mode: z.literal('split').default('split'),
    executable: file,
    'nvram-template': file,
  }),
  targets: z.array(z.object({ architecture: z.string(), machines: z.array(z.string()) })),
  features: z.array(z.string()),
});

/**
 * What makes a firmware refuse boot loaders that are not signed: Secure Boot, keys that it knows from the start, and system
 * management mode, without which a guest could change these. A machine has all of them or none.
 */
const refusing = ['requires-smm', 'secure-boot', 'enrolled-keys'];
/** The administrator's first: a file there stands for one of the same name of a package. */
const folders = ['/etc/qemu/firmware', '/usr/share/qemu/firmware'];

const readable = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

/**
 * The first UEFI for q35 among the descriptors that firmware packages install for QEMU, in the order that QEMU
 * prescribes; null when there is none. `secureBoot`: one that refuses what is not signed; otherwise one that does not.
 */
export const findUefi = async (
  places: readonly string[] = folders,
  { secureBoot = false } = {},
): Promise<UefiFirmware | null> => {
  const files = new Map<string, string>();
  for (const place of places) {
    for (const name of await readdir(place).catch(() => []))
      if (name.endsWith('.json') && !files.has(name)) files.set(name, join(place, name));
  }
  for (const path of [...files.values()].sort((a, b) => (basename(a) < basename(b) ? -1 : 1))) {
    const read = descriptor.safeParse(parse(await readFile(path, 'utf8').catch(() => '')));
    if (!read.success) continue;
    const { mapping, targets, features } = read.data;
    const fits = targets.some(
      ({ architecture, machines }) =>
        architecture === 'x86_64' && machines.some((machine) => machine.startsWith('pc-q35')),
    );
    if (
      !read.data['interface-types'].includes('uefi') ||
      !fits ||
      !(secureBoot
        ? refusing.every((feature) => features.includes(feature))
        : refusing.every((feature) => !features.includes(feature)))
    )
      continue;
    const found = { code: mapping.executable.filename, variables: mapping['nvram-template'].filename };
    if ((await readable(found.code)) && (await readable(found.variables))) return found;
  }
  return null;
};

/**
 * The VM's own variables, from the template at its first start. Whole or not there: a start that died half-way leaves
 * no cut-off file.
 */
export const ensureVariables = async (uefi: UefiFirmware, path: string, user: number): Promise<void> => {
  if (
    !(await access(path).then(
      () => true,
      () => false,
    ))
  )
    await writeFileAtomic(path, await readFile(uefi.variables), { mode: 0o600 });
  await chown(path, user, user);
};
