import { closeSync, existsSync, openSync, writeSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { ApiFailure } from './api-failure';
import type { VersionProfile } from './profile';
import { Pty } from './pty';
import type { PortConfig } from './vm-config';

/** Output kept for a client that comes late, in characters. */
const backlogLimit = 65_536;
let nextPty = 100;

/** The guest's first serial port: nothing, a pty, a file, or a Unix socket that serves its newest client. */
export class SerialPort {
  private server: Server | null = null;
  private client: Socket | null = null;
  private file: number | null = null;
  private pty: Pty | null = null;
  private backlog = '';
  private input: (text: string) => void = () => undefined;

  constructor(
    private readonly profile: VersionProfile,
    /** Ptys are made; else they are pretended. */
    private readonly real: boolean,
  ) {}

  onInput(listener: (text: string) => void): void {
    this.input = listener;
  }

  /** Opens what the configuration says; a pty's path is written into it. Throws `ApiFailure` under `heading`. */
  async open(config: PortConfig, heading: string): Promise<void> {
    await this.close();
    if (config.mode === 'Pty') {
      if (this.real)
        this.pty = await Pty.open((text) => this.input(text)).catch((error: NodeJS.ErrnoException) => {
          throw this.failure(heading, error);
        });
      config.file = this.pty?.path ?? `/dev/pts/${nextPty++}`;
    }
    if (config.mode === 'File' && config.file !== null) {
      this.file = this.attempt(heading, () => openSync(config.file ?? '', 'w', 0o600));
    }
    if (config.mode === 'Socket' && config.socket !== null) await this.listen(config.socket, heading);
  }

  write(text: string): void {
    if (this.file !== null) writeSync(this.file, text);
    this.pty?.write(text);
    if (this.client) this.client.write(text);
    else if (this.server && this.profile.buffersSerial) this.backlog = (this.backlog + text).slice(-backlogLimit);
  }

  async close(): Promise<void> {
    if (this.file !== null) closeSync(this.file);
    this.file = null;
    await this.pty?.close();
    this.pty = null;
    this.backlog = '';
    this.client?.destroy();
    this.client = null;
    const { server } = this;
    this.server = null;
    if (server) await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  private async listen(path: string, heading: string): Promise<void> {
    const server = createServer((socket) => this.accept(socket));
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error: NodeJS.ErrnoException) =>
        reject(this.failure(heading, error, bindError(error, path))),
      );
      server.listen(path, resolve);
    });
    this.server = server;
  }

  private accept(socket: Socket): void {
    this.client?.destroy();
    this.client = socket;
    socket.setEncoding('utf8');
    socket.on('error', () => undefined);
    socket.on('data', (text: string) => this.input(text));
    socket.once('close', () => {
      if (this.client === socket) this.client = null;
    });
    if (this.backlog !== '') socket.write(this.backlog);
    this.backlog = '';
  }

  private attempt<T>(heading: string, run: () => T): T {
    try {
      return run();
    } catch (error) {
      throw this.failure(heading, error as NodeJS.ErrnoException);
    }
  }

  private failure(heading: string, error: NodeJS.ErrnoException, text = osError(error)): ApiFailure {
    return new ApiFailure('internal', heading, 'Error creating console devices', 'Error creating console device', text);
  }
}

const osErrors: Record<string, string> = {
  ENOENT: 'No such file or directory (os error 2)',
  EACCES: 'Permission denied (os error 13)',
  EEXIST: 'File exists (os error 17)',
  EISDIR: 'Is a directory (os error 21)',
  ENOTDIR: 'Not a directory (os error 20)',
  ECONNREFUSED: 'Connection refused (os error 111)',
  EADDRINUSE: 'Address already in use (os error 98)',
};

/** Of a socket that could not be bound: where there is no folder, libuv says that it may not. */
export const bindError = (error: NodeJS.ErrnoException, path: string): string =>
  error.code === 'EACCES' && !existsSync(dirname(path)) ? (osErrors['ENOENT'] ?? '') : osError(error);

/** An operating system error in Rust's words. */
export const osError = (error: NodeJS.ErrnoException): string => osErrors[error.code ?? ''] ?? `${error.message}`;
