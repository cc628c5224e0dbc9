import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findUefi } from './uefi-firmware';

describe('findUefi', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp('/tmp/t-uefi-');
    for (const folder of ['own', 'packages']) await mkdir(join(directory, folder));
    for (const name of ['code.fd', 'vars.fd', 'other.fd']) await writeFile(join(directory, name), name);
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  const describeIn = async (
    folder: string,
    name: string,
    change: Record<string, unknown> = {},
    code = 'code.fd',
  ): Promise<void> => {
    const firmware = {
      'interface-types': ['uefi'],
      mapping: {
        device: 'flash',
        executable: { filename: join(directory, code), format: 'raw' },
        'nvram-template': { filename: join(directory, 'vars.fd'), format: 'raw' },
      },
      targets: [{ architecture: 'x86_64', machines: ['pc-i440fx-*', 'pc-q35-*'] }],
      features: ['acpi-s3'],
      ...change,
    };
    await writeFile(join(directory, folder, name), JSON.stringify(firmware));
  };
  const find = (): ReturnType<typeof findUefi> => findUefi([join(directory, 'own'), join(directory, 'packages')]);

  it('takes the first by name that the machine can run, and the administrator before a package', async () => {
    expect(await find()).toBeNull();
    await describeIn('packages', '60-uefi.json');
    expect(await find()).toEqual({ code: join(directory, 'code.fd'), variables: join(directory, 'vars.fd') });
    await describeIn('packages', '50-other.json', {}, 'other.fd');
    expect((await find())?.code).toBe(join(directory, 'other.fd'));
    await describeIn('own', '50-other.json');
    expect((await find())?.code).toBe(join(directory, 'code.fd'));
  });
  it.each([
    ['of another interface', { 'interface-types': ['bios'] }],
    ['that needs system management mode', { features: ['requires-smm'] }],
    ['that refuses unsigned boot loaders', { features: ['secure-boot', 'enrolled-keys'] }],
    ['for another machine', { targets: [{ architecture: 'x86_64', machines: ['pc-i440fx-*'] }] }],
    ['for another architecture', { targets: [{ architecture: 'aarch64', machines: ['virt-*'] }] }],
    ['without variables', { mapping: { device: 'flash', executable: { filename: '/x', format: 'raw' } } }],
  ])('passes over one %s', async (_what, change) => {
    await describeIn('packages', '50.json', change);
    expect(await find()).toBeNull();
  });
  it('passes over files that are no descriptor, and over firmware that is not there', async () => {
    await writeFile(join(directory, 'packages', '10.json'), 'no json');
    await describeIn('packages', '20.json', {}, 'missing.fd');
    expect(await find()).toBeNull();
  });
});
