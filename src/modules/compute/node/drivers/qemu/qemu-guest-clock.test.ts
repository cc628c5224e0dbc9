import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { socketFolder } from '../common/vmm-files';
import { qemuSockets } from './qemu-arguments';
import { agentListens, setGuestClock } from './qemu-guest-clock';
import type { QmpClient } from './qmp-client';

const user = process.getuid?.() ?? 0;

describe("a guest's clock", () => {
  let runDir: string;
  let server: Server;
  beforeEach(() => {
    runDir = mkdtempSync(join(tmpdir(), 't-clock-'));
    mkdirSync(socketFolder({ runDir, user }), { recursive: true });
  });
  afterEach(() => {
    server.close();
    rmSync(runDir, { recursive: true, force: true });
  });

  /** An agent whose guest's clock is off by so many milliseconds, whatever it is told. */
  const agent = async (offMs: number, setTime: object): Promise<void> => {
    server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (chunk: Buffer) => {
        for (const line of chunk.toString('latin1').replaceAll('\xff', '').split('\n').filter(Boolean)) {
          const asked = JSON.parse(line) as { execute: string; arguments: { id?: number } };
          if (asked.execute === 'guest-sync-delimited')
            socket.write(
              Buffer.concat([Buffer.from([0xff]), Buffer.from(`${JSON.stringify({ return: asked.arguments.id })}\n`)]),
            );
          else if (asked.execute === 'guest-set-time') socket.write(`${JSON.stringify(setTime)}\n`);
          else socket.write(`${JSON.stringify({ return: (Date.now() + offMs) * 1_000_000 })}\n`);
        }
      });
    });
    await new Promise<void>((resolve) =>
      server.listen(join(socketFolder({ runDir, user }), qemuSockets.agent), () => resolve()),
    );
  };
  const failed = { error: { class: 'GenericError', desc: 'hwclock failed to set hardware clock to system time' } };

  it('is right once the guest says so, whatever its agent says of the hardware clock', async () => {
    await agent(0, failed);
    await expect(setGuestClock({ runDir, user })).resolves.toBeUndefined();
  });

  it('is not right for an agent that says it has set it, and has not', async () => {
    await agent(-3_600_000, { return: {} });
    await expect(setGuestClock({ runDir, user })).rejects.toThrow(/ms off/);
  });

  it('is not right for an agent that could not, with its words', async () => {
    await agent(3_600_000, failed);
    await expect(setGuestClock({ runDir, user })).rejects.toThrow(/hwclock failed/);
  });
});

it.each([
  [true, [{ label: 'agent', 'frontend-open': true, filename: 'unix:' }]],
  [false, [{ label: 'agent', 'frontend-open': false }]],
  // Of a machine that was started by a release without the channel.
  [false, [{ label: 'serial', 'frontend-open': true }]],
])('an agent listens: %s', async (listens, answer) => {
  const qmp = { execute: () => Promise.resolve(answer) } as unknown as QmpClient;
  expect(await agentListens(qmp)).toBe(listens);
});
