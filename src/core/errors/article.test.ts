import { withArticle } from './article';

it.each(['an instance', 'an image', 'an API token', 'an ssh key', 'a user', 'a network'])('says %s', (words) =>
  expect(withArticle(words.replace(/^an? /, ''))).toBe(words),
);
