import { parseResolvers } from './resolvers';

describe('resolvers of the host', () => {
  it('are those that others reach too', () => {
    expect(
      parseResolvers(
        '# x\nnameserver 127.0.0.53\nnameserver 192.0.2.1\n nameserver 192.0.2.2 \nnameserver 2001:db8::1\nsearch a\nnameserver 192.0.2.3\nnameserver 192.0.2.4\n',
      ),
    ).toEqual(['192.0.2.1', '192.0.2.2', '192.0.2.3']);
    expect(parseResolvers('')).toEqual([]);
  });
});
