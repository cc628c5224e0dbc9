import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiRouter } from './api-router';

const routes = [
  'GET /images',
  'GET /images/:ref',
  'POST /images/formats',
  'PUT /images/:ref/content',
  'GET /users/:user/tokens/:id',
];

/** What the route at this path is called with; `nothing` where there is none. */
const asked = async (line: string): Promise<string> => {
  const router = new ApiRouter('/api');
  const log: string[] = [];
  for (const route of routes) {
    const [method = '', path = ''] = route.split(' ');
    router.add({ method, path }, async ({ params }) => void log.push(`${route} ${JSON.stringify(params)}`));
  }
  const [method = '', path = ''] = line.split(' ');
  const headers: Record<string, unknown> = {};
  const res = {
    setHeader: (name: string, value: unknown) => (headers[name] = value),
    end: () => log.push(JSON.stringify(headers)),
  };
  const found = await router.answer(
    { method } as IncomingMessage,
    res as unknown as ServerResponse,
    { requestId: '' } as never,
    { path: `/api${path}`, search: '' },
  );
  return found ? log.join() : 'nothing';
};

describe('ApiRouter', () => {
  it.each([
    ['GET /images', 'GET /images {}'],
    ['HEAD /images', 'GET /images {}'],
    ['GET /images/debian', 'GET /images/:ref {"ref":"debian"}'],
    ['GET /images/formats', 'GET /images/:ref {"ref":"formats"}'],
    ['POST /images/formats', 'POST /images/formats {}'],
    ['PUT /images/formats/content', 'PUT /images/:ref/content {"ref":"formats"}'],
    ['GET /users/a/tokens/b', 'GET /users/:user/tokens/:id {"user":"a","id":"b"}'],
    ['GET /images/a%2Fb%20%C3%A4', 'GET /images/:ref {"ref":"a/b ä"}'],
    ['GET /images/a%252F', 'GET /images/:ref {"ref":"a%2F"}'],
    [`GET /images/${'x'.repeat(500)}`, `GET /images/:ref {"ref":"${'x'.repeat(500)}"}`],
    ['OPTIONS /images/formats', '{"allow":"GET, HEAD, POST"}'],
  ])('finds %s', async (line, called) => expect(await asked(line)).toBe(called));

  it.each([
    ['GET /images/%66ormats', 'GET /images/:ref {"ref":"formats"}'],
    ['PUT /images/%2e%2e/content', 'PUT /images/:ref/content {"ref":".."}'],
    ['GET /images/a;b=c', 'GET /images/:ref {"ref":"a;b=c"}'],
    ['GET /images/%3Fa%23', 'GET /images/:ref {"ref":"?a#"}'],
  ])('decodes parameters alone: %s', async (line, called) => expect(await asked(line)).toBe(called));

  it.each([
    '/',
    '/Images',
    '/images/',
    '/images//content',
    '//images',
    '/image',
    '/images/a/b',
    '/%69mages',
    '/images%2Fa',
    '/images%2fa',
    '/images/a/%63ontent',
    '/images;a',
    '/images;a/b',
    '/./images',
    '/images/../images',
    '/images/%2e%2e/images',
    '/%2569mages',
    '/images%20',
    '/images/a/content%00',
    '/images/a/content;x',
  ])('finds nothing at %s, whatever the method', async (path) => {
    for (const method of ['GET', 'PUT', 'PATCH', 'OPTIONS']) expect(await asked(`${method} ${path}`)).toBe('nothing');
  });

  it.each(['POST /images', 'get /images', 'CONNECT /images', '__proto__ /images'])('refuses %s', async (line) =>
    expect(asked(line)).rejects.toMatchObject({ status: 405, extra: { allow: ['GET', 'HEAD'] } }),
  );

  it('does not take two routes of one place', () => {
    const router = new ApiRouter('');
    router.add({ method: 'GET', path: '/images/:ref' }, async () => undefined);
    expect(() => router.add({ method: 'GET', path: '/images/:ref' }, async () => undefined)).toThrow();
  });
});
