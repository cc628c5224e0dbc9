import { isSoundVirtiofsd } from './virtiofsd';

it.each([
  ['virtiofsd 1.13.2\n', true],
  ['virtiofsd 1.10.0\n', true],
  ['virtiofsd 2.0.0\n', true],
  ['virtiofsd 1.9.0\n', false],
  // QEMU's own, in C.
  ['virtiofsd version 7.2.22 (Debian 1:7.2+dfsg-7)\nusing FUSE kernel interface version 7.36\n', false],
  ['', false],
])('knows which virtiofsd runs without rights: %j', (said, sound) => expect(isSoundVirtiofsd(said)).toBe(sound));
