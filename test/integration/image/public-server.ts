import { open } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { UrlDownload } from '../../../src/modules/image/management/fetch/url-download';
import type { FetchReport } from '../../../src/modules/image/management/fetch/fetch-messages';

/**
 * `public-server.ts <public address> <file>`: in a namespace of its own, fetches what a server on that address
 * redirects to, and prints for each what came of it and what was asked on loopback.
 */
const [publicAddress = '', path = ''] = process.argv.slice(2);

const listen = (server: Server, address: string): Promise<number> =>
  new Promise((resolve) => server.listen(0, address, () => resolve((server.address() as AddressInfo).port)));

const main = async (): Promise<void> => {
  let asked = 0;
  const inside = await listen(
    createServer((_, res) => ((asked += 1), res.end('secret'))),
    '127.0.0.1',
  );
  const server = createServer((req, res) => {
    const to = new URL(req.url ?? '/', 'http://self').searchParams.get('to');
    if (to === null) res.end('public');
    else res.writeHead(302, { location: to }).end();
  });
  const port = await listen(server, publicAddress);
  const targets = {
    public: '/',
    loopback: `http://127.0.0.1:${inside}/`,
    'by name': `http://localhost:${inside}/`,
    'mapped address': `http://[::ffff:127.0.0.1]:${inside}/`,
    'twice redirected': `http://${publicAddress}:${port}/?to=${encodeURIComponent(`http://127.0.0.1:${inside}/`)}`,
  };
  for (const [target, to] of Object.entries(targets)) {
    const file = await open(path, 'w+');
    let last: FetchReport | undefined;
    const job = {
      url: `http://${publicAddress}:${port}/?to=${encodeURIComponent(to)}`,
      allowPrivate: false,
      maxBytes: 1000,
      sha512: false,
      silenceMs: 5000,
      minBytesPerSecond: 0,
      paceWindowMs: 5000,
    };
    await new UrlDownload(job, async (report) => void (last = await Promise.resolve(report))).into(file);
    await file.close();
    process.stdout.write(`${JSON.stringify([target, last?.kind === 'failed' ? last.code : last?.kind, asked])}\n`);
  }
  process.exit(0);
};
void main();
