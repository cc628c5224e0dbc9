import { emulationWarning } from './qemu-probe';

describe('emulationWarning', () => {
  it.each(['7.2.22', '9.2.0', '0.1', ''])('warns of %j', (version) =>
    expect(emulationWarning(version)).toMatch(/Linux 6\.12 and newer .* Install QEMU 10/),
  );
  it.each(['10.0.2', '10.2.50', '11.0.0'])('says nothing of %j', (version) =>
    expect(emulationWarning(version)).toBe(''),
  );
});
