import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { startMetadataLab, type MetadataLab } from './metadata-lab';

jest.setTimeout(120_000);
const run = promisify(execFile);

interface Recorded {
  method: string;
  path: string;
  /** In lower case; the value TOKEN stands for the session token that was got before. */
  headers: Record<string, string>;
}
interface Fixture {
  agent: string;
  version: string;
  requests: Recorded[];
}
interface Answer {
  status: number;
  type: string;
  body: string;
}

const folder = join(__dirname, 'fixtures');
const fixtures = readdirSync(folder).map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Fixture);
/** Not text in any encoding: it must come through as it is. */
const userData = Buffer.concat([Buffer.from('#!/bin/sh\n'), Buffer.from([0, 255, 128, 13, 10])]);

/**
 * Run by Node inside the guest's namespace: sends the recorded requests as they were, one connection each, and tells
 * the answers in base64.
 */
const replayer = `
const { request } = require('node:http');
const send = ({ method, path, headers }) => new Promise((done, fail) => {
  const req = request({ host: '169.254.169.254', path, method, headers, timeout: 10000, agent: false }, (res) => {
    const chunks = [];
    res.on('data', (c) => chunks.push(c)).on('end', () => done({ status: res.statusCode, type: res.headers['content-type'] ?? '', body: Buffer.concat(chunks).toString('base64') }));
  });
  req.on('error', fail).on('timeout', () => req.destroy(new Error('no answer within 10 s'))).end();
});
(async () => {
  const answers = [];
  let token = '';
  for (const recorded of JSON.parse(process.argv[1])) {
    const headers = Object.fromEntries(Object.entries(recorded.headers).map(([k, v]) => [k, v === 'TOKEN' ? token : v]));
    const answer = await send({ ...recorded, headers });
    if (recorded.path.endsWith('/api/token')) token = Buffer.from(answer.body, 'base64').toString();
    answers.push(answer);
  }
  console.log(JSON.stringify(answers));
})();
`;

describe('what agents of guests ask', () => {
  let lab: MetadataLab;
  beforeAll(async () => (lab = await startMetadataLab(userData)));
  afterAll(() => lab?.close());

  const replay = async (requests: Recorded[]): Promise<Answer[]> => {
    const { stdout } = await run(
      'ip',
      ['netns', 'exec', lab.client.netns, process.execPath, '-e', replayer, JSON.stringify(requests)],
      { maxBuffer: 16 * 2 ** 20 },
    );
    return JSON.parse(stdout) as Answer[];
  };
  /** What the instance is, by the last part of a path: the right answer wherever in whichever tree it is asked for. */
  const right = (path: string): ((answer: Answer) => void) => {
    const text = (wanted: string | RegExp) => (answer: Answer) => {
      expect(answer.type).toMatch(/^text\/plain/);
      expect(Buffer.from(answer.body, 'base64').toString()).toEqual(
        typeof wanted === 'string' ? wanted : expect.stringMatching(wanted),
      );
    };
    const json = (wanted: object) => (answer: Answer) => {
      expect(answer.type).toMatch(/^application\/json/);
      expect(JSON.parse(Buffer.from(answer.body, 'base64').toString())).toMatchObject(wanted);
    };
    const [front, back] = lab.ports;
    const port = path.includes(back.mac) ? back : front;
    const parts = path.split('/').filter((part) => part !== '');
    // cloud-init reads keys that are text, tiny-cloud those that are numbered as EC2 has them.
    const keys = Object.fromEntries(
      lab.sshKeys.flatMap((key, index) => [
        [String(index), { 'openssh-key': key }],
        [`key-${index}`, key],
      ]),
    );
    if (path.endsWith('/nocloud/meta-data'))
      return (answer) =>
        expect(parse(Buffer.from(answer.body, 'base64').toString())).toEqual({
          'instance-id': front.instanceId,
          hostname: lab.hostname,
          'local-hostname': lab.hostname,
          'public-keys': keys,
        });
    switch (parts.at(-1)) {
      case 'user_data':
      case 'user-data':
        return (answer) => expect(answer.body).toBe(userData.toString('base64'));
      case 'vendor-data':
        return text('');
      case 'meta_data.json':
        return json({
          uuid: front.instanceId,
          name: 'Web',
          hostname: lab.hostname,
          public_keys: { 'key-0': lab.sshKeys[0], 'key-1': lab.sshKeys[1] },
        });
      case 'network_data.json':
        return json({
          links: [
            { ethernet_mac_address: front.mac, mtu: 1450 },
            { ethernet_mac_address: back.mac, mtu: 1450 },
          ],
        });
      case 'openssh-key':
        return text(lab.sshKeys[Number(parts.at(-2))] ?? 'no such key');
      case 'public-keys':
        return text('0=key-0\n1=key-1');
      case 'macs':
        return text(`${front.mac}/\n${back.mac}/`);
      case 'instance-id':
        return text(front.instanceId);
      case 'hostname':
      case 'local-hostname':
        return text(lab.hostname);
      case 'local-ipv4':
      case 'local-ipv4s':
        return text(port.address);
      case 'mac':
        return text(port.mac);
      case 'device-number':
        return text(port === front ? '0' : '1');
      case 'token':
        return text(/^\S{20,}$/);
      default:
        return (answer) => expect(answer.body).not.toBe('');
    }
  };
  /** Of no instance here: nothing is answered rather than something empty. */
  const absent =
    /\/(vendor_data2?\.json|public-ipv4|public-hostname|spot|ami-launch-index|instance-identity\/document)$/;

  it.each(fixtures.map((fixture) => [fixture.agent, fixture.version, fixture] as const))(
    '%s %s gets what it needs',
    async (_agent, _version, { requests }) => {
      const answers = await replay(requests);
      expect(answers).toHaveLength(requests.length);
      requests.forEach(({ method, path }, index) => {
        const answer = answers[index];
        if (!answer) throw new Error('as many answers as requests');
        const what = `${method} ${path}`;
        if (absent.test(path)) return expect({ what, status: answer.status }).toEqual({ what, status: 404 });
        expect({ what, status: answer.status }).toEqual({ what, status: 200 });
        right(path)(answer);
      });
    },
  );
});
