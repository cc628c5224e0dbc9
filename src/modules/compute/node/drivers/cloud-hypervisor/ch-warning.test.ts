import { chWarning } from './ch-warning';

describe('what is known against a Cloud Hypervisor', () => {
  const good = { usable: true, landlock: true, landlockReason: '', names: true };

  it('is nothing of a good one, nor of one that does not work', () => {
    expect(chWarning(good)).toBe('');
    expect(chWarning({ usable: false, landlock: false, landlockReason: '', names: false })).toBe('');
  });

  it('is each thing that it lacks', () => {
    expect(chWarning({ ...good, names: false })).toMatch(/cloud-init 23\.3 or 23\.4 .* config drive/);
    expect(chWarning({ ...good, names: false, landlock: false, landlockReason: 'Linux 6.1' })).toMatch(
      /Landlock: Linux 6\.1\. Before version 53/,
    );
  });
});
