import { bodyOf, commandOptions, emptyVolume, problemsOf } from './volume-form';

it('takes sizes as people write them, and says what is wrong with others', () => {
  const draft = { ...emptyVolume, name: 'data' };
  expect(bodyOf(draft)).toEqual({ name: 'data', bytes: 10 * 2 ** 30 });
  expect(bodyOf({ ...draft, bytes: '512 MiB', instance: 'web' })).toEqual({
    name: 'data',
    bytes: 512 * 2 ** 20,
    instance: 'web',
  });
  expect(commandOptions({ ...draft, instance: 'web' })).toEqual({ size: '10GiB', instance: 'web' });
  for (const bytes of ['', 'large', '0', '100 TiB']) {
    expect(problemsOf({ ...draft, bytes })['bytes']).toEqual(expect.any(String));
    expect(bodyOf({ ...draft, bytes })).toBeNull();
  }
  expect(bodyOf(emptyVolume)).toBeNull();
});
