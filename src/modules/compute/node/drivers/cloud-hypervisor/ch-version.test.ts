import { parseChVersion } from './ch-version';

describe('the version of Cloud Hypervisor', () => {
  it.each([
    ['cloud-hypervisor v53.0\n', { major: 53, minor: 0, distance: 0, text: '53.0' }],
    ['cloud-hypervisor v50.0.0', { major: 50, minor: 0, distance: 0, text: '50.0.0' }],
    ['cloud-hypervisor v53.0-246-gae44c2971', { major: 53, minor: 0, distance: 246, text: '53.0-246-gae44c2971' }],
    ['v51.1-3-g0123abc-dirty', { major: 51, minor: 1, distance: 3, text: '51.1-3-g0123abc-dirty' }],
  ])('%s', (output, version) => expect(parseChVersion(output)).toEqual(version));
  it('is none where none is said', () => expect(parseChVersion('qemu 7')).toBeNull());
});
