import { refuseHugePages } from './huge-pages';

it('lets no balloon be of huge pages, and names the field', () => {
  expect(() => refuseHugePages('body.flavor', { balloon: true }, { pageSize: '2MiB' })).toThrow(
    expect.objectContaining({
      code: 'balloon_with_huge_pages',
      status: 422,
      errors: [expect.objectContaining({ path: 'body.flavor' })],
    }),
  );
  expect(() => refuseHugePages('body.flavor', {}, { pageSize: '2MiB' })).not.toThrow();
  expect(() => refuseHugePages('body.flavor', { balloon: true }, { sharedMemory: true })).not.toThrow();
});
