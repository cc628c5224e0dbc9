import { words } from './format';

it.each([
  ['delete-instance', 'Delete instance'],
  ['DiskPressure', 'Disk pressure'],
  ['VmmSound', 'VMM sound'],
  ['add-ssh-key', 'Add SSH key'],
  ['sshd-restart', 'Sshd restart'],
])('says %s in words', (slug, said) => expect(words(slug)).toBe(said));
