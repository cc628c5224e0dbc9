import { qemuStartFailure } from './qemu-failure';

const said = 'qemu-system-x86_64: unable to map backing store for guest RAM: Cannot allocate memory';

it('tells huge pages that are missing from memory that is', () => {
  expect(qemuStartFailure(said, 'it ended', '2MiB')).toMatchObject({
    code: 'no_huge_pages',
    message: 'The host has too few huge pages of 2MiB free.',
    permanent: false,
    detail: said,
  });
  expect(qemuStartFailure(said, 'it ended')).toMatchObject({ code: 'out_of_memory' });
});
