import { filledPath, restTarget } from './rest-target';

it('puts parameters into their places, whatever characters they have', () => {
  expect(filledPath('/projects/{ref}/members/{userId}', { ref: 'a/b?c', userId: 'ü' })).toBe(
    '/projects/a%2Fb%3Fc/members/%C3%BC',
  );
});

it('sends no path that lacks a parameter', () => {
  expect(() => filledPath('/instances/{ref}')).toThrow('/instances/{ref}: ref is missing');
});

it('leaves out what is missing or empty, and repeats what is several', () => {
  expect(restTarget('/tasks', {}, { q: '', host: undefined, limit: 0, state: ['live', 'failed'] })).toBe(
    '/tasks?limit=0&state=live&state=failed',
  );
  expect(restTarget('/whoami')).toBe('/whoami');
});
