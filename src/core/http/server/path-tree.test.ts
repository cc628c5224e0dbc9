import { PathTree } from './path-tree';

const treeOf = (...patterns: string[]): PathTree<string> => {
  const tree = new PathTree<string>();
  for (const pattern of patterns) tree.at(pattern, () => pattern);
  return tree;
};

describe('PathTree', () => {
  const tree = treeOf('/images', '/images/:ref', '/images/formats', '/images/:ref/content', '/users/:user/tokens/:id');

  it.each([
    ['/images', [{ value: '/images', params: {} }]],
    ['/images/debian', [{ value: '/images/:ref', params: { ref: 'debian' } }]],
    [
      '/images/formats',
      [
        { value: '/images/formats', params: {} },
        { value: '/images/:ref', params: { ref: 'formats' } },
      ],
    ],
    ['/images/formats/content', [{ value: '/images/:ref/content', params: { ref: 'formats' } }]],
    ['/users/a/tokens/b', [{ value: '/users/:user/tokens/:id', params: { user: 'a', id: 'b' } }]],
    ['/images/a%2Fb%20%C3%A4', [{ value: '/images/:ref', params: { ref: 'a/b ä' } }]],
  ])('finds all that fit %s, the fixed one first', (path, found) => {
    expect(tree.matches(path)).toEqual(found);
  });

  it.each(['/', '/Images', '/images/', '/images//content', '//images', '/image', '/images/a/b', '/%69mages'])(
    'finds nothing at %s',
    (path) => expect(tree.matches(path)).toEqual([]),
  );

  it('keeps one value for each pattern, whose parameters have one name each', () => {
    const counted = new PathTree<number[]>();
    counted.at('/images/:ref', () => []).push(1);
    counted.at('/images/:ref', () => []).push(2);
    expect(counted.matches('/images/x')).toEqual([{ value: [1, 2], params: { ref: 'x' } }]);
    expect(() => counted.at('/images/:id', () => [])).toThrow('"/images/:id" has the parameters ref elsewhere');
  });
});
