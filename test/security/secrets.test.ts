import { randomUUID } from 'node:crypto';
import { request as httpsRequest } from 'node:https';
import { createSigningRequest } from '../../src/core/m2m/ca/certificates';
import { decodeToken } from '../../src/core/m2m/enrolment-token';
import type { ApiClient, Answer } from '../support/api-client';
import { ManagementStack, passwordOf } from './management-stack';

jest.setTimeout(120_000);

/** How often each outcome came: `401 invalid_refresh_token` → 60. */
const outcomes = (answers: readonly Answer[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const key = status < 300 ? String(status) : `${status} ${String(body['code'])}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
};
const repeated = async (times: number, work: () => Promise<Answer>): Promise<Answer[]> => {
  const answers: Answer[] = [];
  for (let i = 0; i < times; i += 1) answers.push(await work());
  return answers;
};
const wrongSecret = 'A'.repeat(43);

describe('guessing secrets', () => {
  let stack: ManagementStack;
  let nextAddress = 1;
  beforeAll(async () => {
    stack = await ManagementStack.start();
  });
  afterAll(() => stack?.close());

  const from = (): string => `127.0.2.${nextAddress++}`;
  const change = (client: ApiClient, current: string, password: string): Promise<Answer> => client.call('POST', '/users/me/password', { current, password });

  it('of the own password stops after as many as a login allows, and costs nobody else an attempt', async () => {
    const address = from();
    const { token } = await stack.user('guesser');
    const guesser = stack.client(token, address);
    expect(outcomes(await repeated(40, () => change(guesser, 'wrong', 'another password')))).toEqual({ '422 wrong_password': 10, '429 too_many_attempts': 30 });
    expect((await change(guesser, passwordOf('guesser'), 'another password')).status).toBe(429);
    await stack.user('neighbour');
    expect((await stack.client('', address).call('POST', '/login', { name: 'neighbour', password: passwordOf('neighbour') })).status).toBe(200);
    // Guesses here and at the login are the same guesses.
    expect((await stack.client('', address).call('POST', '/login', { name: 'guesser', password: passwordOf('guesser') })).status).toBe(429);
  });

  it('does not keep others from logging in while one caller has sixty passwords hashed at once', async () => {
    const address = from();
    const viewer = stack.client((await stack.user('busy')).token, address);
    const names = ['one', 'two', 'three', 'four', 'five'];
    for (const name of names) await stack.user(name);
    const changes = Array.from({ length: 60 }, () => change(viewer, passwordOf('busy'), passwordOf('busy')));
    const elsewhere = from();
    const logins = names.map((name, i) => stack.client('', i % 2 ? address : elsewhere).call('POST', '/login', { name, password: passwordOf(name) }));
    expect(outcomes(await Promise.all(logins))).toEqual({ 200: 5 });
    expect(Object.keys(outcomes(await Promise.all(changes))).filter((key) => !['204', '429 too_many_attempts', '503 busy'].includes(key))).toEqual([]);
  });

  it('of refresh tokens ends in 429, and a right one of the same address still passes', async () => {
    const client = stack.client('', from());
    await stack.user('fresh');
    const { refreshToken } = await client.ok<{ refreshToken: string }>('POST', '/login', { name: 'fresh', password: passwordOf('fresh') });
    const guess = refreshToken.slice(0, -43) + wrongSecret;
    expect(outcomes(await repeated(80, () => client.call('POST', '/login/refresh', { refreshToken: guess })))).toEqual({ '401 invalid_refresh_token': 60, '429 too_many_attempts': 20 });
    expect((await client.call('POST', '/login/refresh', { refreshToken })).status).toBe(200);
  });

  it('of API tokens ends in 429, and a right one of the same address still passes', async () => {
    const address = from();
    const { token } = await (await stack.user('robot')).ok<{ token: string }>('POST', '/api-tokens', { name: 't' });
    const guesser = stack.client(token.slice(0, -43) + wrongSecret, address);
    expect(outcomes(await repeated(80, () => guesser.call('GET', '/whoami')))).toEqual({ '401 unauthenticated': 60, '429 too_many_attempts': 20 });
    expect((await stack.client(token, address).call('GET', '/whoami')).status).toBe(200);
  });

  it('of console tickets ends in 429', async () => {
    const address = from();
    const guess = (): Promise<Answer> => upgrade(`${stack.url}/api/v1/console?ticket=${wrongSecret}`, address);
    expect(outcomes(await repeated(70, guess))).toEqual({ '401 invalid_ticket': 60, '429 too_many_attempts': 10 });
  });

  it('of enrolment tokens ends in 429, and a right one of the same address still passes', async () => {
    const address = from();
    const { csr } = await createSigningRequest('x');
    const enrol = (ticket: string, name: string): Promise<Answer> =>
      post(`https://127.0.0.1:${stack.nodePort}/node/enroll`, address, { ticket, csr, name, address: '127.0.0.1', port: 1 });
    const ticket = decodeToken((await stack.admin.ok<{ token: string }>('POST', '/host-tokens', {})).token)?.ticket ?? '';
    const guess = `${ticket.split('.')[0] ?? ''}.${wrongSecret}`;
    expect(outcomes(await repeated(70, () => enrol(guess, `n${randomUUID().slice(0, 8)}`)))).toEqual({ '401 token_unknown': 60, '429 too_many_attempts': 10 });
    expect((await enrol(ticket, 'welcome')).status).toBe(200);
  });
});

const answerOf = (status: number, text: string): Answer => ({ status, body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>, headers: {} });

const post = (url: string, localAddress: string, body: unknown): Promise<Answer> => send(url, { method: 'POST', localAddress }, JSON.stringify(body));
const upgrade = (url: string, localAddress: string): Promise<Answer> =>
  send(url, { localAddress, headers: { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': Buffer.alloc(16).toString('base64') } });

const send = (url: string, options: Record<string, unknown>, body?: string): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const req = httpsRequest(url, { rejectUnauthorized: false, agent: false, ...options }, (res) => {
      let text = '';
      res.on('data', (chunk: Buffer) => (text += chunk.toString()));
      res.on('end', () => resolve(answerOf(res.statusCode ?? 0, text)));
    });
    req.on('error', reject);
    req.end(body);
  });
