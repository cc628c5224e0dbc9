import { ManagementStack } from './management-stack';

jest.setTimeout(120_000);

interface Document {
  paths: Record<string, Record<string, { 'x-scope': string }>>;
}

describe('somebody without an identity', () => {
  let stack: ManagementStack;
  beforeAll(async () => {
    stack = await ManagementStack.start();
  });
  afterAll(() => stack?.close());

  it('gets 401 from every route of the document but those that say that they are public', async () => {
    const stranger = stack.client();
    const { body } = await stranger.call<Document>('GET', '/openapi.json');
    const operations = Object.entries(body.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, scope: operation['x-scope'] })));
    expect(operations.length).toBeGreaterThan(40);
    expect(operations.filter((o) => o.scope === 'public').map((o) => `${o.method} ${o.path}`).sort()).toEqual(['POST /login', 'POST /login/refresh']);
    const wrong: string[] = [];
    for (const { method, path, scope } of operations) {
      if (scope === 'public') continue;
      const answer = await stranger.call(method as 'GET', path.replaceAll(/\{[^}]+\}/g, '00000000-0000-4000-8000-000000000000'));
      if (answer.status !== 401 || answer.body['code'] !== 'unauthenticated') wrong.push(`${method} ${path}: ${answer.status} ${String(answer.body['code'])}`);
    }
    expect(wrong).toEqual([]);
  });
});
