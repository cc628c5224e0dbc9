import { randomUUID } from 'node:crypto';
import { Agent, request } from 'undici';
import { DocumentCheck, type ApiDocument } from '../support/document-check';
import { differences, readAccessTable, type AccessTable } from './access-table';
import { makeIdentities, type Identity } from './identities';
import { ManagementStack, passwordOf } from './management-stack';
import { requests, type CellRequest } from './requests';

jest.setTimeout(300_000);

interface Document {
  paths: Record<string, Record<string, unknown>>;
}
interface Seen {
  status: number;
  text: string;
}

describe('who gets what from each route', () => {
  let stack: ManagementStack;
  let identities: Identity[];
  let check: DocumentCheck;
  /** Wrong credentials are counted by address: each column has one of its own, and a new one after so many requests. */
  const perAddress = 50;
  const agents = new Map<string, Agent>();
  const sent = new Map<string, number>();

  beforeAll(async () => {
    stack = await ManagementStack.start();
    identities = await makeIdentities(stack);
    check = new DocumentCheck((await stack.client().unchecked<ApiDocument>('GET', '/openapi.json')).body);
  });
  afterAll(async () => {
    await Promise.all([...agents.values()].map((agent) => agent.destroy()));
    await stack?.close();
  });

  const agentOf = (who: Identity): Agent => {
    const before = sent.get(who.column) ?? 0;
    sent.set(who.column, before + 1);
    const localAddress = `127.0.${1 + Math.floor(before / perAddress)}.${1 + identities.indexOf(who)}`;
    const agent = agents.get(localAddress) ?? new Agent({ connect: { rejectUnauthorized: false }, localAddress });
    agents.set(localAddress, agent);
    return agent;
  };

  const send = async (
    who: Identity,
    method: string,
    path: string,
    body: unknown,
    bearer: string | undefined,
  ): Promise<Seen> => {
    const ended = new AbortController();
    const raw = Buffer.isBuffer(body);
    const response = await request(`${stack.url}${path}`, {
      method: method as 'GET',
      dispatcher: agentOf(who),
      signal: ended.signal,
      headers: {
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
        ...(body !== undefined && { 'content-type': raw ? 'application/octet-stream' : 'application/json' }),
      },
      ...(body !== undefined && { body: raw ? body : JSON.stringify(body) }),
    });
    if (String(response.headers['content-type']).startsWith('text/event-stream')) {
      response.body.on('error', () => undefined);
      ended.abort();
      return { status: response.statusCode, text: '' };
    }
    const text = await response.body.text();
    check.add(method, path, response.statusCode, String(response.headers['content-type'] ?? ''), text);
    return { status: response.statusCode, text };
  };

  const login = async (who: Identity, user: string): Promise<string> => {
    const { status, text } = await send(
      who,
      'POST',
      '/api/v1/login',
      { name: user, password: passwordOf(user) },
      undefined,
    );
    if (status !== 200) throw new Error(`${user} cannot log in: ${text}`);
    return (JSON.parse(text) as { accessToken: string }).accessToken;
  };

  /** `yes`: it was let through; `none`: a list without the object; else the status of the refusal. */
  const judge = (cell: CellRequest, { status, text }: Seen): string => {
    if (status < 300) return cell.sees === undefined || text.includes(cell.sees) ? 'yes' : 'none';
    if (status === 401 || status === 403 || status === 404) return String(status);
    const { code } = JSON.parse(text) as { code: string };
    return cell.allowed?.includes(code) ? 'yes' : `${status} ${code}`;
  };

  it('is what the table says, for every route of the document and every identity', async () => {
    const { paths } = (await stack.admin.unchecked<Document>('GET', '/openapi.json')).body;
    const routes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(routes.filter((route) => !(route in requests))).toEqual([]);
    expect(Object.keys(requests).filter((key) => !routes.includes(key.split('?')[0] ?? ''))).toEqual([]);
    const seen: AccessTable = new Map();
    for (const [key, make] of Object.entries(requests)) {
      const row = new Map<string, string>();
      for (const who of identities) {
        const cell = await make(stack, who);
        const bearer = cell.endsSession && who.user !== undefined ? await login(who, who.user) : who.bearer;
        row.set(
          who.column,
          judge(cell, await send(who, key.split(' ')[0] ?? '', `/api/v1${cell.path}`, cell.body, bearer)),
        );
        // A new password ends all other sessions.
        if (cell.endsSession && who.user !== undefined) who.bearer = await login(who, who.user);
      }
      seen.set(key, row);
    }
    expect(differences(seen, readAccessTable('access.md', 'Routes'))).toEqual([]);
  });

  it("is, for another project's object, what it is for one that does not exist", async () => {
    const outsider = identities.find((who) => who.column === 'outsider');
    if (!outsider) throw new Error('nobody');
    const different: string[] = [];
    const words = (seen: Seen, id: string): string => seen.text.replaceAll(id, 'ID').replace(/"requestId":"[^"]+"/, '');
    for (const [key, make] of Object.entries(requests)) {
      const [method = '', template = ''] = key.split(' ');
      if (!/\{(ref|id)\}/.test(template)) continue;
      const cell = await make(stack, outsider);
      const id = cell.path.split('/')[2]?.split('?')[0] ?? '';
      const other = randomUUID();
      const there = await send(outsider, method, `/api/v1${cell.path}`, cell.body, outsider.bearer);
      const absent = await send(outsider, method, `/api/v1${cell.path.replace(id, other)}`, cell.body, outsider.bearer);
      if (there.status < 300) continue;
      if (words(there, id) !== words(absent, other))
        different.push(`${key}: ${there.text} for one that is there, ${absent.text} for one that is not`);
    }
    expect(different).toEqual([]);
  });

  it('is what the OpenAPI document says, status by status, its `default` apart', () => {
    expect(check.compared).toBeGreaterThan(1_000);
    expect([...check.faults]).toEqual([]);
  });

  it('is nothing of the secrets and hashes that the installation keeps', async () => {
    const hashes = (await stack.db.database.query<{ password_hash: string }>('SELECT password_hash FROM app_user')).map(
      (row) => row.password_hash,
    );
    const texts = await Promise.all(
      (['/users?limit=500', '/users/root', '/api-tokens', '/whoami', '/host-tokens?limit=500', '/hosts'] as const).map(
        async (path) => JSON.stringify((await stack.admin.call('GET', path)).body),
      ),
    );
    const all = [...texts, ...stack.logs].join('\n');
    expect(hashes.filter((hash) => hash !== 'none' && all.includes(hash))).toEqual([]);
    expect(all).not.toContain(passwordOf('member'));
  });
});
