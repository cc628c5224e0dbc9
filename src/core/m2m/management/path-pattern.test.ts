import { PathPattern } from './path-pattern';

describe('PathPattern', () => {
  const pattern = new PathPattern('/images/:id/content');
  it.each([
    ['/images/42/content', { id: '42' }],
    ['/images/a%20b/content', { id: 'a b' }],
    ['/images//content', null],
    ['/images/../content', null],
    ['/images/%2e%2e/content', null],
    ['/images/a%2fb/content', null],
    ['/images/%00/content', null],
    ['/images/%/content', null],
    ['/images/42/content/more', null],
    ['/images/42', null],
  ])('%s', (path, params) => {
    expect(pattern.match(path)).toEqual(params);
  });
});
