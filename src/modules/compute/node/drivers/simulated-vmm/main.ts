import { existsSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { answer } from './api';
import { EventMonitor } from './event-monitor';
import { defaultKnobs, type SimulationKnobs } from './knobs';
import { profiles } from './profile';
import { SimulatedVmm, type VmmEnd } from './simulated-vmm';
import { WireServer } from './wire-server';

/** Cloud Hypervisor's command line, as far as a VMM that is driven by its API needs it. */
interface CommandLine {
  socket: string | null;
  eventPath: string | null;
  eventFd: number | null;
  logFile: string | null;
  stay: boolean;
  version: boolean;
}

/** A command line that is not understood. */
class UsageError extends Error {}

const valueOf = (text: string, key: string): string => (text.startsWith(`${key}=`) ? text.slice(key.length + 1) : text);

const parse = (argv: readonly string[]): CommandLine => {
  const line: CommandLine = {
    socket: null,
    eventPath: null,
    eventFd: null,
    logFile: null,
    stay: false,
    version: false,
  };
  const words = [...argv];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const next = (): string => words.shift() ?? '';
    if (word === '--api-socket') line.socket = valueOf(next(), 'path');
    else if (word === '--event-monitor') {
      const target = next();
      if (target.startsWith('fd=')) line.eventFd = Number(target.slice(3));
      else line.eventPath = valueOf(target, 'path');
    } else if (word === '--log-file') line.logFile = next();
    else if (word === '--no-shutdown') line.stay = true;
    else if (word === '-V' || word === '--version') line.version = true;
    else if (word === '--seccomp' || word === '--landlock-rules' || word === '--log-format') next();
    else if (word !== '--landlock' && !/^-v+$/.test(word))
      throw new UsageError(`error: unexpected argument '${word}' found`);
  }
  return line;
};

const startOf = (pid: number): string | null => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
};

/** Claims the API socket as the version does it. Throws with the original's text. */
const claimSocket = (path: string, locks: boolean): void => {
  const lock = `${path}.lock`;
  if (!locks) {
    if (existsSync(path)) throw new Error(`Error starting the HTTP server: Address already in use (os error 98)`);
    return;
  }
  const holder = existsSync(lock) ? readFileSync(lock, 'utf8').split(' ') : [];
  if (holder.length === 2 && startOf(Number(holder[0])) === holder[1])
    throw new Error(`API socket ${JSON.stringify(path)} is already in use by another running instance`);
  rmSync(path, { force: true });
  writeFileSync(lock, `${process.pid} ${startOf(process.pid) ?? ''}`);
};

const main = async (): Promise<void> => {
  const line = parse(process.argv.slice(2));
  const knobs: SimulationKnobs = {
    ...defaultKnobs,
    ...(JSON.parse(process.env['SIMULATED_VMM_KNOBS'] ?? '{}') as Partial<SimulationKnobs>),
  };
  const profile = profiles[knobs.version];
  if (line.version) {
    process.stdout.write(`cloud-hypervisor ${profile.buildVersion}\n`);
    return;
  }
  if (line.socket === null) throw new UsageError('error: an API socket is needed');
  process.umask(0o077);
  const log = line.logFile === null ? null : openSync(line.logFile, 'w');
  const eventFd = line.eventPath === null ? line.eventFd : openSync(line.eventPath, 'w');
  claimSocket(line.socket, profile.locksSocket);
  const finish = (how: VmmEnd): void => {
    if (typeof how === 'string') {
      process.kill(process.pid, how);
      // The first process of a namespace cannot kill itself; the real one dies there of faults, which spare nobody.
      process.exit(137);
    }
    // Only an orderly end takes the socket file away.
    void (how === 0 ? server.close() : server.flush()).finally(() => process.exit(how));
  };
  const vmm = new SimulatedVmm(knobs, new EventMonitor(eventFd, () => knobs.eventLoss), {
    end: finish,
    stay: line.stay,
    log: (thread, text) => {
      const line = `cloud-hypervisor: ${process.uptime().toFixed(6).padStart(10)}s: <${thread}> ${text}\n`;
      if (log !== null) writeSync(log, line);
    },
  });
  const server = new WireServer((request) => answer(vmm, request), {
    bodyLimit: profile.bodyLimit,
    methods: profile.methods,
    stalled: () => knobs.stalled || vmm.deaf,
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void vmm.terminate());
  await server.listen(line.socket);
};

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(error instanceof UsageError ? 2 : 1);
});
