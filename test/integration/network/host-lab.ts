import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { HostNetworkDocument } from '../../../src/modules/network/contract/host-document';
import { present, type PlainDocument, type PlainNetwork, type PlainPort } from '../../support/plain-networks';
import type { NetworkApplyResult } from '../../../src/modules/network/contract/network.verbs';
import { hostHash, instanceNetns, networkNetns, tapName } from '../../../src/modules/network/node/drivers/linux/names';
import { namespacesNow } from '../../support/namespaces';
import { leftovers } from '../../support/network-leftovers';
import { runTag, sweepableRuns } from '../../support/run-names';
import type { AgentCall, AgentOptions } from './agent-process';

const run = promisify(execFile);

const leaseScript = `#!/bin/sh
case "$1" in
  deconfig) ip addr flush dev "$interface"; ip link set "$interface" up;;
  bound|renew)
    ip addr replace "$ip/$mask" dev "$interface"
    [ -n "$mtu" ] && ip link set "$interface" mtu "$mtu"
    set -- $staticroutes
    # The gateway's own route first.
    while [ $# -ge 2 ]; do ip route replace "$1" via "$2"; shift 2; done
    echo "LEASE ip=$ip mask=$mask mtu=$mtu router=$router hostname=$hostname domain=$domain dns=$dns routes=$staticroutes";;
esac
`;

/**
 * A guest without a virtual machine: a namespace whose NIC is wired to the instance's tap, which is opened as a VMM
 * opens it.
 */
export interface Client {
  netns: string;
  port: PlainPort;
  wires: ChildProcess[];
}

/** Of a lab's run alone, and known from it, so that what a killed run left is found. */
const hostIdOf = (name: string, pid: number): string =>
  `6f1c1c1e-0000-4000-8000-${createHash('sha256').update(`${name} ${pid}`).digest('hex').slice(0, 12)}`;

/**
 * A "host" in a namespace (with an uplink to an "outside" namespace), the agent as a process in it, and clients in
 * place of guests.
 */
export class HostLab {
  readonly hash: string;
  readonly host: string;
  readonly outside: string;
  readonly dir: string;
  readonly metadata: AgentOptions['metadata'] = {};
  private agent: ChildProcess | undefined;
  private readonly replies = new Map<number, (message: { result?: unknown; error?: string }) => void>();
  private counter = 0;
  private readonly clients: Client[] = [];

  /** `name`: of this lab alone, for what an earlier run of it left is swept away. */
  private constructor(
    private readonly name: string,
    readonly hostId: string,
  ) {
    this.hash = hostHash(hostId);
    this.host = `t-${name}-${runTag()}-host`;
    this.outside = `t-${name}-${runTag()}-out`;
    this.dir = mkdtempSync(join(tmpdir(), `t-${name}-`));
  }

  static async start(name = 'network'): Promise<HostLab> {
    const lab = new HostLab(name, hostIdOf(name, process.pid));
    writeFileSync(join(lab.dir, 'lease.sh'), leaseScript);
    chmodSync(join(lab.dir, 'lease.sh'), 0o755);
    for (const pid of sweepableRuns(namespacesNow(), `t-${name}`)) await lab.cleanNamespaces(pid);
    for (const ns of [lab.host, lab.outside]) await run('ip', ['netns', 'add', ns]);
    for (const ns of [lab.host, lab.outside]) await run('ip', ['-n', ns, 'link', 'set', 'lo', 'up']);
    await run('ip', [
      '-n',
      lab.host,
      'link',
      'add',
      'up0',
      'type',
      'veth',
      'peer',
      'name',
      'in0',
      'netns',
      lab.outside,
    ]);
    await run('ip', ['-n', lab.host, 'addr', 'add', '198.51.100.2/24', 'dev', 'up0']);
    await run('ip', ['-n', lab.host, 'link', 'set', 'up0', 'up']);
    await run('ip', ['-n', lab.host, 'route', 'add', 'default', 'via', '198.51.100.1']);
    await run('ip', ['-n', lab.outside, 'addr', 'add', '198.51.100.1/24', 'dev', 'in0']);
    await run('ip', ['-n', lab.outside, 'addr', 'add', '203.0.113.9/32', 'dev', 'lo']);
    // Neighbours of the host: another of the cloud's machines, and one that is a gateway to a network of its own.
    for (const neighbour of ['198.51.100.3', '198.51.100.4'])
      await run('ip', ['-n', lab.outside, 'addr', 'add', `${neighbour}/32`, 'dev', 'in0']);
    await run('ip', ['-n', lab.outside, 'addr', 'add', '192.0.2.77/32', 'dev', 'lo']);
    await run('ip', ['-n', lab.outside, 'link', 'set', 'in0', 'up']);
    await run('ip', ['-n', lab.host, 'route', 'add', '192.0.2.64/26', 'via', '198.51.100.4']);
    return lab;
  }

  network(n: number, ports: PlainPort[], extra: Partial<PlainNetwork> = {}): PlainNetwork {
    return {
      id: `11111111-1111-4111-8111-1111111111${n.toString(16).padStart(2, '0')}`,
      subnet: '10.77.0.0/24',
      gateway: '10.77.0.1',
      gatewayMac: `56:43:47:00:00:${n.toString(16).padStart(2, '0')}`,
      dns: ['203.0.113.53'],
      domain: 'lab.internal',
      mtu: 1450,
      nat: true,
      ports,
      ...extra,
    };
  }

  port(n: number, address: string, hostname = `vm${n}`): PlainPort {
    const hex = n.toString(16).padStart(2, '0');
    return {
      id: `22222222-2222-4222-8222-2222222222${hex}`,
      instanceId: `33333333-3333-4333-8333-3333333333${hex}`,
      mac: `56:43:53:00:00:${hex}`,
      address,
      hostname,
      position: 0,
      defaultRoute: true,
    };
  }

  netnsOf(network: { id: string }): string {
    return networkNetns(this.hash, network.id);
  }

  async startAgent(): Promise<void> {
    const options: AgentOptions = {
      hostId: this.hostId,
      stateDir: join(this.dir, 'state'),
      runDir: join(this.dir, 'run'),
      metadata: this.metadata,
    };
    const root = resolve(__dirname, '../../..');
    const agent = spawn(
      'nsenter',
      [
        `--net=/run/netns/${this.host}`,
        '--',
        process.execPath,
        '-r',
        join(root, 'test/support/ts-register.js'),
        join(root, 'test/integration/network/agent-process.ts'),
        JSON.stringify(options),
      ],
      {
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
        env: { PATH: process.env.PATH, TEST_LOG: process.env.TEST_LOG ?? 'error' },
      },
    );
    this.agent = agent;
    agent.on('message', (message: { id: number; result?: unknown; error?: string }) => {
      this.replies.get(message.id)?.(message);
      this.replies.delete(message.id);
    });
    await new Promise<void>((done, fail) => {
      this.replies.set(0, (m) => (m.error === undefined ? done() : fail(new Error(m.error))));
      agent.once('exit', () => fail(new Error('the agent ended at once')));
    });
  }

  call(call: AgentCall): Promise<unknown> {
    const id = (this.counter += 1);
    return new Promise((done, fail) => {
      this.replies.set(id, (m) => (m.error === undefined ? done(m.result) : fail(new Error(m.error))));
      this.agent?.send({ id, call });
    });
  }

  apply(document: PlainDocument | HostNetworkDocument): Promise<NetworkApplyResult> {
    return this.call({ method: 'apply', document: present(document) }) as Promise<NetworkApplyResult>;
  }

  /** `kill`: as a crash does it. */
  async stopAgent(kill = false): Promise<void> {
    const agent = this.agent;
    this.agent = undefined;
    if (!agent || agent.exitCode !== null || agent.signalCode !== null) return;
    const ended = new Promise((done) => agent.once('exit', done));
    if (kill) agent.kill('SIGKILL');
    else agent.send({ id: -1, call: { method: 'stop' } });
    await ended;
  }

  /**
   * A client where the VMM of this port would be: one process opens the tap in the instance's namespace, one makes the
   * client's NIC, frames go between them.
   */
  async client(port: PlainPort): Promise<Client> {
    const netns = `t-${this.name}-${runTag()}-c${port.id.slice(-2)}`;
    const instance = instanceNetns(this.hash, port.instanceId);
    const [a, b] = [join(this.dir, `${netns}.a`), join(this.dir, `${netns}.b`)];
    await run('ip', ['netns', 'add', netns]);
    await run('ip', ['-n', netns, 'link', 'set', 'lo', 'up']);
    const tap = (name: string): string => `TUN,tun-type=tap,tun-name=${name},iff-no-pi`;
    const wires = [
      spawn(
        'nsenter',
        [`--net=/run/netns/${instance}`, '--', 'socat', tap(tapName(port.id)), `UNIX-SENDTO:${b},bind=${a}`],
        { stdio: 'ignore' },
      ),
      spawn('nsenter', [`--net=/run/netns/${netns}`, '--', 'socat', tap('eth0'), `UNIX-SENDTO:${a},bind=${b}`], {
        stdio: 'ignore',
      }),
    ];
    const client = { netns, port, wires };
    this.clients.push(client);
    await this.until(`the NIC of ${netns}`, () =>
      run('ip', ['-n', netns, 'link', 'show', 'eth0'])
        .then(() => existsSync(a) && existsSync(b))
        .catch(() => false),
    );
    await run('ip', ['-n', netns, 'link', 'set', 'eth0', 'address', port.mac, 'mtu', '1450', 'up']);
    return client;
  }

  async removeClient(client: Client): Promise<void> {
    for (const wire of client.wires) {
      const ended = new Promise((done) => wire.once('exit', done));
      wire.kill('SIGKILL');
      await ended;
    }
    await run('ip', ['netns', 'del', client.netns]);
    this.clients.splice(this.clients.indexOf(client), 1);
  }

  async until(what: string, check: () => Promise<boolean>, timeoutMs = 10_000): Promise<void> {
    const end = Date.now() + timeoutMs;
    while (!(await check())) {
      if (Date.now() > end) throw new Error(`waited ${timeoutMs} ms for ${what}`);
      await delay(20);
    }
  }

  async in(netns: string, program: string, ...args: string[]): Promise<string> {
    return (await run('nsenter', [`--net=/run/netns/${netns}`, '--', program, ...args], { timeout: 20_000 })).stdout;
  }

  /** Listens in a namespace and answers with a line; returns how to end it. */
  async serve(netns: string, address: string, port: number): Promise<() => Promise<void>> {
    const child = execFile('nsenter', [
      `--net=/run/netns/${netns}`,
      '--',
      'socat',
      `TCP-LISTEN:${port},fork,reuseaddr,bind=${address}`,
      'SYSTEM:echo served $SOCAT_PEERADDR',
    ]);
    await this.until(`port ${port}`, async () => (await this.in(netns, 'ss', '-ltn')).includes(`:${port}`));
    return () =>
      new Promise((done) => {
        child.once('exit', () => done());
        child.kill('SIGKILL');
      });
  }

  /** What somebody who listens there answers; empty when nobody does. */
  connect(netns: string, address: string, port: number): Promise<string> {
    return this.in(netns, 'socat', '-T', '2', '-', `TCP:${address}:${port},connect-timeout=1`).catch(() => '');
  }

  /** The lease line of the client's DHCP script; null when no server answered. */
  async lease(client: Client): Promise<string | null> {
    const options = ['staticroutes', 'mtu', 'hostname', 'domain', 'dns', 'router'].flatMap((o) => ['-O', o]);
    const out = await this.in(
      client.netns,
      'busybox',
      'udhcpc',
      '-i',
      'eth0',
      '-s',
      join(this.dir, 'lease.sh'),
      '-n',
      '-q',
      '-f',
      '-t',
      '5',
      '-T',
      '1',
      ...options,
    ).catch((e: { stdout?: string }) => e.stdout ?? '');
    return out.split('\n').find((line) => line.startsWith('LEASE')) ?? null;
  }

  ping(netns: string, address: string, ...options: string[]): Promise<boolean> {
    return this.in(netns, 'ping', '-c', '1', '-W', '1', ...options, address).then(
      () => true,
      () => false,
    );
  }

  /** An HTTP GET with curl-like result: status and body; status 0 when nobody answers. */
  async http(
    netns: string,
    path: string,
    headers: Record<string, string> = {},
    method = 'GET',
    host = '169.254.169.254',
    port = 80,
    body = '',
  ): Promise<{ status: number; body: string; headers: string }> {
    const lines = [
      `${method} ${path} HTTP/1.1`,
      `host: ${host}`,
      'connection: close',
      ...Object.entries(headers).map(([k, v]) => `${k}: ${v}`),
      '',
      '',
    ].join('\r\n');
    const file = join(this.dir, `request-${(this.counter += 1)}`);
    writeFileSync(file, `${lines}${body}`);
    const answer = await this.in(
      netns,
      'sh',
      '-c',
      'socat -t 5 -T 5 - "TCP:$1:$2,connect-timeout=2" < "$3"',
      'sh',
      host,
      String(port),
      file,
    ).catch(() => '');
    const [head = '', ...rest] = answer.split('\r\n\r\n');
    return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1] ?? 0), body: rest.join('\r\n\r\n'), headers: head };
  }

  leftovers(): Promise<string[]> {
    return leftovers(this.hostId, { hostNetns: this.host, runDir: join(this.dir, 'run') });
  }

  async close(): Promise<void> {
    await this.stopAgent(true);
    for (const client of [...this.clients]) await this.removeClient(client).catch(() => undefined);
    await this.cleanNamespaces(process.pid);
    rmSync(this.dir, { recursive: true, force: true });
  }

  /** Everything that this lab may have made in the run of that process. */
  private async cleanNamespaces(pid: number): Promise<void> {
    const hash = hostHash(hostIdOf(this.name, pid));
    for (const name of namespacesNow()) {
      if (!name.startsWith(`t-${this.name}-${runTag(pid)}-`) && !name.startsWith(`vcs-${hash}-`)) continue;
      const pids = await run('ip', ['netns', 'pids', name]).then(
        (r) => r.stdout.split('\n').filter((p) => p !== ''),
        () => [],
      );
      for (const pid of pids) await run('kill', ['-9', pid]).catch(() => undefined);
      await run('ip', ['netns', 'del', name]).catch(() => undefined);
    }
  }
}
