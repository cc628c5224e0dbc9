import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { promisify } from 'node:util';
import { eventually } from '../support/eventually';
import { ended, Running } from './running';

const run = promisify(execFile);

/** A network namespace in which programs send, listen and look. */
export class Place {
  protected readonly children: ChildProcess[] = [];

  constructor(
    /** What its servers answer. */
    readonly name: string,
    readonly netns: string,
  ) {}

  async in(program: string, ...args: string[]): Promise<string> {
    return (await run('nsenter', [`--net=/run/netns/${this.netns}`, '--', program, ...args], { timeout: 30_000 }))
      .stdout;
  }

  /** A program that runs until its `end`, or until the place is closed. */
  start(program: string, ...args: string[]): Running {
    const child = spawn('nsenter', [`--net=/run/netns/${this.netns}`, '--', program, ...args], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    this.children.push(child);
    return new Running(child);
  }

  /** Whether one of two echo requests is answered. `bytes`: of the whole IP packet, which must not be fragmented. */
  ping(address: string, options: { bytes?: number; from?: string } = {}): Promise<boolean> {
    const size = options.bytes === undefined ? [] : ['-M', 'do', '-s', String(options.bytes - 28)];
    const from = options.from === undefined ? [] : ['-I', options.from];
    return this.in('ping', '-c', '2', '-i', '0.2', '-W', '1', ...size, ...from, address).then(
      () => true,
      () => false,
    );
  }

  /** What who listens there says; empty when nobody is reached. */
  ask(kind: 'tcp' | 'udp', address: string, port: number): Promise<string> {
    const target = kind === 'tcp' ? `TCP:${address}:${port},connect-timeout=2` : `UDP:${address}:${port}`;
    return this.in('sh', '-c', `echo asked | socat -t 1 -T 2 - '${target}'`).catch(() => '');
  }

  /** Answers on a port with its own name, until the place is closed. `address`: where it has several. */
  async serve(kind: 'tcp' | 'udp', port: number, address?: string): Promise<void> {
    const bind = address === undefined ? '' : `,bind=${address}`;
    const listen = kind === 'tcp' ? `TCP-LISTEN:${port},fork,reuseaddr${bind}` : `UDP-RECVFROM:${port},fork${bind}`;
    this.start('socat', '-T', '5', listen, `SYSTEM:read line; echo ${this.name}`);
    await eventually(`${kind} port ${port} of ${this.name}`, async () =>
      (await this.in('ss', '-Hln', kind === 'tcp' ? '-t' : '-u', `sport = :${port}`)).includes(`:${port}`),
    );
  }

  /** Echo requests that have come in so far. */
  async echoesSeen(): Promise<number> {
    const counters = (await this.in('cat', '/proc/net/snmp')).split('\n').filter((line) => line.startsWith('Icmp:'));
    const [names = [], values = []] = counters.map((line) => line.split(' '));
    return Number(values[names.indexOf('InEchos')]);
  }

  /** Ends its programs. */
  async close(): Promise<void> {
    await Promise.all(this.children.splice(0).map((child) => ended(child, 'SIGKILL')));
  }
}
