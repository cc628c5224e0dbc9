import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import pino from 'pino';
import { Logging } from '../../../../core/telemetry/logging';
import { ConsoleHub } from './console.hub';

const id = '0198b0f4-1111-7000-8000-000000000001';
const mebibyte = 1024 * 1024;

describe('what a guest wrote', () => {
  let dir: string;
  let server: Server;
  let hub: ConsoleHub;
  let guest: Socket;

  const newHub = (): ConsoleHub => new ConsoleHub(new Logging(pino({ level: 'silent' })));
  /** Writes as the guest and waits until it is on record. */
  const say = async (bytes: string | Buffer): Promise<void> => {
    const before = hub.read(id, dir, null).text;
    guest.write(bytes);
    const log = join(dir, 'console.log');
    const tail = Buffer.from(bytes).subarray(-64);
    for (const end = Date.now() + 10_000; Date.now() < end; ) {
      const now = await readFile(log).catch(() => Buffer.alloc(0));
      if (
        now.subarray(-tail.length).equals(tail) &&
        (hub.read(id, dir, null).text !== before || tail.every((byte) => byte >= 0x80))
      )
        return;
      await new Promise((done) => setTimeout(done, 5));
    }
    throw new Error('the output did not come');
  };

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'hub-'));
    const connected = new Promise<Socket>((resolve) => (server = createServer(resolve)));
    await new Promise<void>((resolve) => server.listen(join(dir, 'serial'), resolve));
    await writeFile(join(dir, 'console.log'), 'from the last run\n');
    hub = newHub();
    hub.attach(id, join(dir, 'serial'), process.getuid?.() ?? 0, dir);
    guest = await connected;
  });
  afterEach(async () => {
    hub.close(id);
    guest.destroy();
    await new Promise((resolve) => server.close(resolve));
    await rm(dir, { recursive: true, force: true });
  });

  it('is read from the beginning, then from where the last read ended', async () => {
    const first = hub.read(id, dir, null);
    expect(first).toMatchObject({ text: 'from the last run\n', truncated: false });
    await say('login: ');
    const second = hub.read(id, dir, first.cursor);
    expect(second).toMatchObject({ text: 'login: ', truncated: false });
    expect(hub.read(id, dir, second.cursor)).toEqual({ text: '', cursor: second.cursor, truncated: false });
    expect(hub.read(id, dir, null).text).toBe('from the last run\nlogin: ');
  });

  it('says what is missing when more came than is kept', async () => {
    const first = hub.read(id, dir, null);
    await say('x'.repeat(mebibyte));
    await say(`${'y'.repeat(mebibyte - 4)}end\n`);
    const rest = hub.read(id, dir, first.cursor);
    expect(rest.truncated).toBe(true);
    expect(rest.text.endsWith('end\n')).toBe(true);
    expect(hub.read(id, dir, null).truncated).toBe(true);
    expect(hub.read(id, dir, rest.cursor)).toMatchObject({ text: '', truncated: false });
  });

  it('takes no more than it reads, from whoever types, and all of it in the end', async () => {
    await say('login: ');
    // From here on the guest reads nothing.
    guest.pause();
    const chunk = Buffer.alloc(64 * 1024, 'k');
    const pasted = 128;
    let taken = 0;
    const viewer = new Duplex({
      read() {
        if (taken < pasted) this.push(chunk);
        taken += 1;
      },
      write: (_chunk, _encoding, done) => done(),
    });
    hub.view(id, viewer, dir);
    let last = -1;
    while (last !== taken) {
      last = taken;
      await new Promise((done) => setTimeout(done, 100));
    }
    expect(taken).toBeLessThan(pasted / 2);
    let read = 0;
    guest.on('data', (bytes: Buffer) => (read += bytes.length)).resume();
    for (const end = Date.now() + 10_000; read < pasted * chunk.length && Date.now() < end; )
      await new Promise((done) => setTimeout(done, 5));
    expect(read).toBe(pasted * chunk.length);
    viewer.destroy();
  });

  it('never cuts a character in two', async () => {
    const { cursor } = hub.read(id, dir, null);
    const euro = Buffer.from('€');
    await say(Buffer.concat([Buffer.from('a'), euro.subarray(0, 1)]));
    const begun = hub.read(id, dir, cursor);
    expect(begun.text).toBe('a');
    guest.write(Buffer.concat([euro.subarray(1), Buffer.from('b')]));
    for (const end = Date.now() + 10_000; hub.read(id, dir, begun.cursor).text !== '€b' && Date.now() < end; )
      await new Promise((done) => setTimeout(done, 5));
    expect(hub.read(id, dir, begun.cursor).text).toBe('€b');
  });

  it('goes on after a restart of the agent with what came since, and says so', async () => {
    const { cursor } = hub.read(id, dir, null);
    await say('before\n');
    const later = newHub();
    expect(later.read(id, dir, cursor)).toMatchObject({ text: '', truncated: true });
    expect(later.read(id, dir, null).text).toBe('from the last run\nbefore\n');
  });
});
