import { z } from 'zod';
import { checkBy, checkDescription, checkName, checkWhole } from './validate';

it('counts a name in characters, not in bytes', () => {
  expect(checkName('ü'.repeat(63))).toBeNull();
  expect(checkName('ü'.repeat(64))).toBe('At most 63 characters.');
});

it.each([
  ['', 'A name is needed.'],
  ['a\u0000b', 'Control characters are not allowed.'],
  ['web\u202egnp', 'Characters that turn the direction of text or are invisible are not allowed.'],
  [' web', 'No blanks at the start or end.'],
  ['00000000-0000-4000-8000-00000000000a', 'Must not have the form of an id.'],
])('says what is wrong with the name %j', (name, said) => expect(checkName(name)).toBe(said));

it('takes a description of several lines', () => {
  expect(checkDescription('first\nsecond')).toBeNull();
  expect(checkDescription('x'.repeat(256))).toBe('At most 255 characters.');
});

it('takes whole numbers within the limits of their schema, and names the limits', () => {
  const check = checkWhole(z.number().int().min(0).max(600).default(30));
  expect(['0', '600'].map(check)).toEqual([null, null]);
  for (const text of ['601', '-1', '1.5', '', ' 7', '1e2', '9'.repeat(30)])
    expect([text, check(text)]).toEqual([text, 'A whole number from 0 to 600.']);
});

it('says it in the words of the form where it has some, else in those of the server', () => {
  const schema = z.number().min(64).multipleOf(8);
  const check = checkBy<number>(schema, { not_multiple_of: 'Eights only.' });
  expect([64, 63, 65].map(check)).toEqual([null, 'At least 64.', 'Eights only.']);
});
