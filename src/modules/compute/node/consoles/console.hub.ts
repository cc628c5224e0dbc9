import { randomBytes } from 'node:crypto';
import { injectable } from 'inversify';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { connectOwned } from '../../../../core/host/files/owned-socket';
import type { Logger } from 'pino';
import { Logging } from '../../../../core/telemetry/logging';
import { SerialLog } from './serial-log';

/** What a new viewer is shown of the past, in bytes. */
const replayBytes = 1024 * 1024;
/** What a viewer may leave unread before it is cut off, in bytes. */
const maxUnread = 4 * 1024 * 1024;
const reconnectMs = [20, 50, 100, 200, 500, 1000];

interface Line {
  socketPath: string | null;
  /** Whose socket it must be. */
  user: number;
  socket: Socket | null;
  /** Counts connections begun and let go of: one that comes late belongs to nobody. */
  run: number;
  attempts: number;
  timer: NodeJS.Timeout | undefined;
  recent: Buffer[];
  recentBytes: number;
  /** Of this life of the line; cursors of another one mean nothing in it. */
  epoch: string;
  /** Bytes in all, from what was on the disk when the line was made. */
  total: number;
  /** Bytes of those that were on the disk. */
  past: number;
  viewers: Set<Duplex>;
  /** Of those the ones that type faster than the guest reads: they are not read until it has caught up. */
  held: Set<Duplex>;
  log: SerialLog;
}

/** Bytes at the end that begin a character of UTF-8 and do not finish it: 0 to 3. */
const begunCharacter = (bytes: Buffer): number => {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > back ? back : 0;
  }
  return 0;
};

/**
 * Owns each guest's only serial connection: keeps the last MiB and a rotated log, and fans out to any number of
 * viewers, who all may type.
 */
@injectable()
export class ConsoleHub {
  private readonly lines = new Map<string, Line>();
  private readonly logger: Logger;

  constructor(logging: Logging) {
    this.logger = logging.for('console');
  }

  /**
   * Connects to the serial socket of a machine that runs as `user`, and stays connected until `detach`. Viewers of an
   * earlier run stay.
   */
  attach(instanceId: string, socketPath: string, user: number, logDir: string): void {
    const line = this.lines.get(instanceId) ?? this.newLine(logDir);
    this.lines.set(instanceId, line);
    this.disconnect(line);
    line.socketPath = socketPath;
    line.user = user;
    line.attempts = 0;
    if (socketPath !== '') void this.connect(instanceId, line);
  }

  /** The machine ended; viewers wait for the next run. */
  detach(instanceId: string): void {
    const line = this.lines.get(instanceId);
    if (!line) return;
    this.disconnect(line);
    line.socketPath = null;
    for (const viewer of line.viewers) viewer.write('\r\n[the machine is off]\r\n');
  }

  /** The instance is gone. */
  close(instanceId: string): void {
    const line = this.lines.get(instanceId);
    if (!line) return;
    this.disconnect(line);
    for (const viewer of line.viewers) viewer.end();
    line.log.close();
    this.lines.delete(instanceId);
  }

  /** Joins a viewer: what is recent first, then live. */
  view(instanceId: string, viewer: Duplex, logDir: string): void {
    if (viewer.destroyed) return;
    const line = this.lines.get(instanceId) ?? this.newLine(logDir);
    this.lines.set(instanceId, line);
    for (const chunk of line.recent) viewer.write(chunk);
    line.viewers.add(viewer);
    if (line.socketPath === null) viewer.write('\r\n[the machine is off]\r\n');
    viewer.on('data', (keys: Buffer) => {
      if (!line.socket || line.socket.destroyed || line.socket.write(keys)) return;
      viewer.pause();
      line.held.add(viewer);
    });
    const leave = (): void => {
      line.viewers.delete(viewer);
      line.held.delete(viewer);
    };
    viewer.on('close', leave);
    viewer.on('error', leave);
  }

  /**
   * What the guest wrote, of the last MiB: all of it, or what came after `since`, the cursor of an earlier answer. Ends
   * with a whole character; the rest of a begun one comes with the next read. `truncated`: something before it is not
   * kept any more. A cursor from before the agent's last start gives what came since that start.
   */
  read(instanceId: string, logDir: string, since: string | null): { text: string; cursor: string; truncated: boolean } {
    const line = this.lines.get(instanceId) ?? this.newLine(logDir);
    this.lines.set(instanceId, line);
    const [epoch, position] = since?.split(':') ?? [];
    const kept = line.total - line.recentBytes;
    const from = since === null ? 0 : epoch === line.epoch ? Math.min(Number(position), line.total) : line.past;
    const wanted = Buffer.concat(line.recent).subarray(Math.max(0, from - kept));
    const whole = wanted.subarray(0, wanted.length - begunCharacter(wanted));
    const cursor = `${line.epoch}:${line.total - (wanted.length - whole.length)}`;
    return { text: whole.toString('utf8'), cursor, truncated: from < kept || (since !== null && epoch !== line.epoch) };
  }

  private newLine(logDir: string): Line {
    const log = new SerialLog(join(logDir, 'console.log'));
    const past = log.tail(replayBytes);
    return {
      socketPath: null,
      user: 0,
      socket: null,
      run: 0,
      attempts: 0,
      timer: undefined,
      recent: past.length > 0 ? [past] : [],
      recentBytes: past.length,
      epoch: randomBytes(8).toString('hex'),
      total: past.length,
      past: past.length,
      viewers: new Set(),
      held: new Set(),
      log,
    };
  }

  private async connect(instanceId: string, line: Line): Promise<void> {
    if (line.socketPath === null) return;
    const run = ++line.run;
    const socket = await connectOwned(line.socketPath, line.user).catch((error: unknown) => {
      this.logger.debug({ err: error, instanceId }, 'the serial line failed');
      return null;
    });
    if (line.run !== run) {
      socket?.destroy();
      return;
    }
    if (!socket) return this.reconnect(instanceId, line);
    line.socket = socket;
    line.attempts = 0;
    socket.on('data', (chunk: Buffer) => this.output(line, chunk));
    socket.on('error', (error) => this.logger.debug({ err: error, instanceId }, 'the serial line failed'));
    socket.on('drain', () => this.letType(line));
    socket.on('close', () => {
      this.letType(line);
      if (line.socket !== socket) return;
      line.socket = null;
      this.reconnect(instanceId, line);
    });
  }

  private letType(line: Line): void {
    for (const viewer of line.held) viewer.resume();
    line.held.clear();
  }

  private reconnect(instanceId: string, line: Line): void {
    const pause = reconnectMs[Math.min(line.attempts, reconnectMs.length - 1)] ?? 1000;
    line.attempts += 1;
    line.timer = setTimeout(() => void this.connect(instanceId, line), pause);
    line.timer.unref();
  }

  private disconnect(line: Line): void {
    clearTimeout(line.timer);
    line.run += 1;
    const socket = line.socket;
    line.socket = null;
    socket?.destroy();
  }

  private output(line: Line, chunk: Buffer): void {
    line.recent.push(chunk);
    line.recentBytes += chunk.length;
    line.total += chunk.length;
    while (line.recentBytes > replayBytes && line.recent.length > 1)
      line.recentBytes -= line.recent.shift()?.length ?? 0;
    line.log.append(chunk);
    for (const viewer of line.viewers) {
      if (viewer.writableLength > maxUnread) viewer.destroy();
      else viewer.write(chunk);
    }
  }
}
