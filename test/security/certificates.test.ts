import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, request as httpsRequest, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { RestClient } from '../../src/core/cli/session/rest-client';
import { MasterKey } from '../../src/core/crypto/master-key';
import { createSigningRequest } from '../../src/core/m2m/ca/certificates';
import { hostUri } from '../../src/core/m2m/ca/identity-uri';
import { decodeToken } from '../../src/core/m2m/enrolment-token';
import { olderCertificate } from '../support/older-certificate';
import { ManagementStack } from './management-stack';

jest.setTimeout(120_000);

const serverAuth = '1.3.6.1.5.5.7.3.1';
const clientAuth = '1.3.6.1.5.5.7.3.2';

interface Material {
  certificate: string;
  key: string;
}

/** What came of asking a URL: `answered`, or the reason for not trusting it. */
type Ask = (url: string, root: string) => Promise<string>;

const run = (program: string, args: string[]): Promise<{ code: number; output: string }> =>
  new Promise((resolve) => {
    execFile(program, args, { timeout: 20_000 }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, output: `${stdout}${stderr}` }),
    );
  });

const curl: Ask = async (url, root) => {
  const { code, output } = await run('curl', [
    '--silent',
    '--show-error',
    '--noproxy',
    '*',
    '--cacert',
    root,
    `${url}/health`,
  ]);
  return code === 0 ? 'answered' : output.trim();
};

const python: Ask = async (url, root) => {
  const program = `
import ssl, sys, urllib.request
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=sys.argv[2])))
opener.open(sys.argv[1] + '/health', timeout=10).read()
`;
  const { code, output } = await run('python3', ['-c', program, url, root]);
  return code === 0 ? 'answered' : (output.trim().split('\n').pop() ?? '');
};

const vcctl: Ask = async (url, root) => {
  const client = new RestClient({ url, ca: readFileSync(root, 'utf8') });
  try {
    await client.call({ method: 'GET', path: '/whoami' });
    return 'answered';
  } catch (error) {
    // Whatever it answers, it was believed.
    const { code, message } = error as { code?: string; message: string };
    return code === 'unauthenticated' || /access token/.test(message) ? 'answered' : message;
  } finally {
    client.close();
  }
};

describe('certificates', () => {
  let stack: ManagementStack;
  let root: string;
  const impostors: Server[] = [];

  beforeAll(async () => {
    stack = await ManagementStack.start();
    root = join(stack.directory, 'root.pem');
    const [row] = await stack.db.database.query<{ certificate: string }>('SELECT certificate FROM ca');
    writeFileSync(root, row?.certificate ?? '');
  });
  afterAll(async () => {
    for (const server of impostors) {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    }
    await stack?.close();
  });

  const enrolled = async (name: string): Promise<Material & { hostId: string }> => {
    const { key, csr } = await createSigningRequest(name);
    const { token } = await stack.admin.ok('POST', '/host-tokens', {});
    const body = JSON.stringify({ ticket: decodeToken(token)?.ticket, csr, name, address: '127.0.0.1', port: 1 });
    const text = await new Promise<string>((resolve, reject) => {
      const req = httpsRequest(
        {
          host: '127.0.0.1',
          port: stack.nodePort,
          path: '/node/enroll',
          method: 'POST',
          rejectUnauthorized: false,
          agent: false,
        },
        (res) => {
          let answer = '';
          res.on('data', (chunk: Buffer) => (answer += chunk.toString()));
          res.on('end', () => resolve(answer));
        },
      );
      req.on('error', reject).end(body);
    });
    const { hostId, certificate } = JSON.parse(text) as { hostId: string; certificate: string };
    return { key, certificate, hostId };
  };

  /** A server that shows this certificate, with the root behind it, and says what management would. */
  const impostor = async ({ certificate, key }: Material): Promise<number> => {
    const server = createServer({ cert: `${certificate}${readFileSync(root, 'utf8')}`, key }, (_req, res) =>
      res.setHeader('content-type', 'application/json').end('{"status":"healthy"}'),
    );
    impostors.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  };

  it('say a role and no common name, and only that of a REST server has names', async () => {
    const server = JSON.parse(
      readFileSync(join(stack.directory, 'state/management/tls/server.json'), 'utf8'),
    ) as Material & { client: Material };
    const facts = (pem: string): object => {
      const { subject, keyUsage, subjectAltName } = new X509Certificate(pem);
      return { subject, usages: keyUsage, names: subjectAltName };
    };
    const host = await enrolled('somewhere.example');
    expect(facts(server.certificate)).toEqual({
      subject: 'O=VC Stack\nOU=server',
      usages: [serverAuth],
      names: expect.stringMatching(/^URI:urn:vc-stack:management, DNS:localhost, IP Address:127\.0\.0\.1/) as string,
    });
    expect(facts(server.client.certificate)).toEqual({
      subject: 'O=VC Stack\nOU=management',
      usages: [clientAuth],
      names: 'URI:urn:vc-stack:management',
    });
    expect(facts(host.certificate)).toEqual({
      subject: 'O=VC Stack\nOU=host',
      usages: [clientAuth, serverAuth],
      names: `URI:urn:vc-stack:host:${host.hostId}`,
    });
  });

  describe.each([
    ['curl', curl],
    ['Python', python],
    ['vcctl', vcctl],
  ] as const)('to %s', (_name, ask) => {
    it('let the REST server be the REST server, under each of its names', async () => {
      const { port } = new URL(stack.url);
      expect([await ask(`https://localhost:${port}`, root), await ask(`https://127.0.0.1:${port}`, root)]).toEqual([
        'answered',
        'answered',
      ]);
    });

    it('do not let a host be it, whatever the host calls itself', async () => {
      for (const name of ['localhost', '127.0.0.1', hostname()]) {
        await stack.db.database.query('DELETE FROM host WHERE name = $1', [name]);
        const port = await impostor(await enrolled(name));
        for (const address of ['localhost', '127.0.0.1'])
          expect(await ask(`https://${address}:${port}`, root)).toMatch(/certificate|host ?name|management process/i);
      }
    });
  });

  it('of hosts from before roles, with a common name, are not taken for the REST server by vcctl', async () => {
    const [row] = await stack.db.database.query<{ certificate: string; sealed_key: string }>(
      'SELECT certificate, sealed_key FROM ca',
    );
    const masterKey = await MasterKey.load(join(stack.directory, 'state/management'));
    const ca = { certificate: row?.certificate ?? '', key: masterKey.open(row?.sealed_key ?? '', 'ca-key').toString() };
    const { key } = await createSigningRequest('localhost');
    const { certificate } = await olderCertificate(ca, key, {
      commonName: 'localhost',
      uri: hostUri('00000000-0000-4000-8000-000000000001'),
    });
    expect(await vcctl(`https://localhost:${await impostor({ certificate, key })}`, root)).toMatch(
      /not of a management process/,
    );
  });
});
