import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFirmware } from './ch-firmware';

describe('the firmware of Cloud Hypervisor', () => {
  const root = mkdtempSync(join(tmpdir(), 'vcs-fw-'));
  const [bin, release, share] = ['bin', 'release', 'share'].map((name) => join(root, name)) as [string, string, string];
  beforeAll(() => {
    for (const folder of [bin, release, share]) mkdirSync(folder);
    writeFileSync(join(release, 'cloud-hypervisor'), '');
    symlinkSync(join(release, 'cloud-hypervisor'), join(bin, 'cloud-hypervisor'));
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  it('is none when nothing is there', () => {
    expect(findFirmware('cloud-hypervisor', bin, [share])).toBe('');
    expect(findFirmware('not-there', bin, [share])).toBe('');
  });
  it('is found beside the program that the name on the PATH stands for', () => {
    writeFileSync(join(release, 'CLOUDHV.fd'), '');
    expect(findFirmware('cloud-hypervisor', `/nowhere:${bin}`, [share])).toBe(join(release, 'CLOUDHV.fd'));
    expect(findFirmware(join(release, 'cloud-hypervisor'), '', [share])).toBe(join(release, 'CLOUDHV.fd'));
  });
  it('is taken from the usual places first', () => {
    writeFileSync(join(share, 'hypervisor-fw'), '');
    expect(findFirmware('cloud-hypervisor', bin, [share])).toBe(join(share, 'hypervisor-fw'));
  });
});
