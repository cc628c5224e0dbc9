import { execFileSync, spawn, spawnSync, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import WebSocket from 'ws';
import { SimulatedCloud } from '../model/simulated-cloud';

const minutes = 60_000;
/** At which the simulated guest sends back what comes. */
const echo = '7';

describe('streams to ports of guests', () => {
  let cloud: SimulatedCloud;
  let env: NodeJS.ProcessEnv;
  const program = 'dist/src/vcctl.js';
  const running: ChildProcessWithoutNullStreams[] = [];

  beforeAll(async () => {
    cloud = await SimulatedCloud.start('vsock', { keepAlive: true });
    env = { ...process.env, VCCTL_CONFIG: join(cloud.directory, 'vcctl.yaml') };
    const tls = join(cloud.directory, 'management/state/management/tls/server.json');
    const { rootFingerprint } = JSON.parse(readFileSync(tls, 'utf8')) as { rootFingerprint: string };
    const login = ['login', cloud.api.url, '--fingerprint', rootFingerprint, '--user', 'admin', '--password-stdin'];
    const input = readFileSync(join(cloud.directory, 'management/state/management/admin-password'), 'utf8').trim();
    execFileSync(process.execPath, [program, ...login], { input, env });
    await make('web', true);
    await make('plain', false);
  }, 3 * minutes);
  afterEach(() => {
    for (const child of running.splice(0)) child.kill('SIGKILL');
  });
  afterAll(() => cloud?.close(), 2 * minutes);

  const make = async (name: string, vsock: boolean): Promise<void> => {
    const made = await cloud.api.ok('POST', '/instances?project=default', cloud.body(name, { machine: { vsock } }));
    expect((await cloud.settled(made.taskId)).state).toBe('succeeded');
  };
  const vcctl = (...args: string[]): ChildProcessWithoutNullStreams => {
    const child = spawn(process.execPath, [program, ...args], { env });
    running.push(child);
    return child;
  };
  const ended = async (child: ChildProcessWithoutNullStreams): Promise<{ code: number | null; said: string }> => {
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, said };
  };
  const stream = async (name: string): Promise<WebSocket> => {
    const path = `/instances/${name}/actions/vsock` as '/instances/{ref}/actions/vsock';
    const { path: at } = await cloud.api.ok('POST', `${path}?project=default`, { port: Number(echo) });
    return new WebSocket(`${cloud.api.url.replace('https', 'wss')}${at}`, { rejectUnauthorized: false });
  };

  it('join the standard input and output of vcctl to what listens there, byte for byte', async () => {
    const child = vcctl('instance', 'vsock', 'web', echo);
    const sent = randomBytes(4 * 1024 * 1024);
    const digest = createHash('sha256');
    let got = 0;
    const whole = new Promise<void>((resolve) =>
      child.stdout.on('data', (chunk: Buffer) => {
        digest.update(chunk);
        got += chunk.length;
        if (got >= sent.length) resolve();
      }),
    );
    // The end of what is sent is not the end of what comes.
    child.stdin.end(sent);
    await whole;
    expect([got, digest.digest('hex')]).toEqual([sent.length, createHash('sha256').update(sent).digest('hex')]);
    child.kill('SIGTERM');
    expect(await ended(child)).toMatchObject({ code: 0 });
  }, 60_000);

  it('are refused where nothing listens, and where there is none, with the reason', async () => {
    const closed = spawnSync(process.execPath, [program, 'instance', 'vsock', 'web', '22'], { env, encoding: 'utf8' });
    expect([closed.status === 0, closed.stderr]).toEqual([
      false,
      expect.stringContaining('Nothing in its guest listens at port 22.'),
    ]);
    const plain = spawnSync(process.execPath, [program, 'instance', 'vsock', 'plain', '22'], { env, encoding: 'utf8' });
    expect([plain.status === 0, plain.stderr]).toEqual([false, expect.stringContaining('has no vsock')]);
    const off = await cloud.api.ok('POST', '/instances/web/actions/stop?project=default', { force: true });
    await cloud.settled(off.taskId);
    expect(await cloud.api.call('POST', '/instances/web/actions/vsock?project=default', { port: 7 })).toMatchObject({
      status: 409,
      body: { code: 'instance_stopped' },
    });
    await cloud.settled((await cloud.api.ok('POST', '/instances/web/actions/start?project=default')).taskId);
  }, 60_000);

  it('say that the guest is silent, and not that its host is, where the VMM never answers', async () => {
    await make('mute', true);
    const { id } = await cloud.api.ok('GET', '/instances/mute?project=default');
    const kept = join(cloud.directory, 'sim0', 'state', 'compute', 'instances', id, 'instance.json');
    const { handle } = JSON.parse(readFileSync(kept, 'utf8')) as { handle: { runDir: string } };
    const path = join(handle.runDir, 'vsock.sock');
    rmSync(path);
    const silent = createServer((socket) => void socket.resume()).listen(path);
    try {
      await once(silent, 'listening');
      const asked = await ended(vcctl('instance', 'vsock', 'mute', echo));
      expect([asked.code === 0, asked.said]).toEqual([false, expect.stringContaining('Its guest does not answer')]);
    } finally {
      silent.close();
    }
    await cloud.settled((await cloud.api.ok('DELETE', '/instances/mute?project=default')).taskId);
  }, 60_000);

  it('are 32 to a guest at most, and end with its machine', async () => {
    const streams: WebSocket[] = [];
    for (let n = 0; n < 32; n += 1) {
      const one = await stream('web');
      await once(one, 'open');
      one.send(Buffer.from('x'));
      await once(one, 'message');
      streams.push(one);
    }
    const [code, reason] = (await once(await stream('web'), 'close')) as [number, Buffer];
    expect([code, reason.toString()]).toEqual([4409, 'There are 32 streams to its guest already.']);
    const ends = Promise.all(streams.map((one) => once(one, 'close')));
    const off = await cloud.api.ok('POST', '/instances/web/actions/stop?project=default', { force: true });
    await cloud.settled(off.taskId);
    await ends;
    await cloud.settled((await cloud.api.ok('POST', '/instances/web/actions/start?project=default')).taskId);
    const again = await stream('web');
    await once(again, 'open');
    again.send(Buffer.from('y'));
    const [heard] = (await once(again, 'message')) as [Buffer];
    expect(heard.toString()).toBe('y');
    const gone = once(again, 'close');
    await cloud.settled((await cloud.api.ok('DELETE', '/instances/web?project=default')).taskId);
    await gone;
  }, 60_000);
});
